/** What a screen is: registered by one line in screens.ts, it gets its route and its entry in the navigation. */

import type { ComponentType } from "preact";
import type { IconName } from "../components/icon.tsx";
import type { RouteParams } from "./router.ts";

/** The groups of the navigation, in order. */
export const GROUPS = ["home", "content", "work", "manage"] as const;
export type Group = (typeof GROUPS)[number];

export interface Navigation {
  group: Group;
  /** Smaller is higher. */
  order: number;
  icon: IconName;
  /** Pressed after `g`. */
  shortcut?: string;
  /** Who may use it; others do not see the entry. */
  role?: "editor" | "admin" | "operator";
}

export interface Screen {
  /** `/sources/:id`; the component gets `params.id`. */
  path: string;
  /** In the language of the page: for the navigation and the title of the document. */
  title: () => string;
  /** Without it, the screen is reached by links only. */
  navigation?: Navigation;
  component: ComponentType<{ params: Record<string, string> }>;
}

export function screen<const P extends string>(
  definition: Omit<Screen, "component" | "path"> & {
    path: P;
    component: ComponentType<{ params: RouteParams<P> }>;
  },
): Screen {
  return definition as unknown as Screen;
}
