import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { overview } from "./messages.ts";

export const overviewScreens = [
  screen({
    path: "/overview",
    title: () => overview().title,
    navigation: { group: "home", order: 0, icon: "overview", shortcut: "o" },
    component: lazy(async () => (await import("./overview.tsx")).Overview),
  }),
];
