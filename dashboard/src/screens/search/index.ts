import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const searchScreens = [
  screen({
    path: "/search",
    title: () => titles().search,
    navigation: { group: "content", order: 40, icon: "search", shortcut: "f" },
    component: lazy(async () => (await import("../ask.ts")).Search),
  }),
  screen({
    path: "/evaluation",
    title: () => titles().evaluation,
    navigation: { group: "content", order: 40, icon: "evaluation", shortcut: "e" },
    component: lazy(async () => (await import("../ask.ts")).Evaluation),
  }),
];
