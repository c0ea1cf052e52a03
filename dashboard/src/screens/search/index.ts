import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const searchScreens = [
  screen({
    path: "/search",
    title: () => titles().search,
    navigation: { group: "content", order: 40, icon: "search", shortcut: "f" },
    component: lazy(async () => (await import("./search.tsx")).Search),
  }),
];
