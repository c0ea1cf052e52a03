import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const overviewScreens = [
  screen({
    path: "/overview",
    title: () => titles().overview,
    navigation: { group: "home", order: 0, icon: "overview", shortcut: "o" },
    component: lazy(async () => (await import("./overview.tsx")).Overview),
  }),
];
