import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const sourcesScreens = [
  screen({
    path: "/sources",
    title: () => titles().sources,
    navigation: { group: "content", order: 10, icon: "sources", shortcut: "s" },
    component: lazy(async () => (await import("../work.ts")).SourceList),
  }),
  screen({
    path: "/sources/:id",
    title: () => titles().source,
    component: lazy(async () => (await import("../work.ts")).SourceScreen),
  }),
];
