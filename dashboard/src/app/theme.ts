/** Light, dark, or as the system has it; tokens.css does the rest. */

import { effect, signal } from "@preact/signals";
import { remember, remembered } from "./storage.ts";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(THEMES.find((name) => name === remembered("theme")) ?? "auto");

export function setTheme(name: Theme): void {
  theme.value = name;
  remember("theme", name);
}

export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}
