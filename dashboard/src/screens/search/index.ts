import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { search } from "./messages.ts";

export const searchScreens = [
  screen({
    path: "/search",
    title: () => search().title,
    navigation: { group: "content", order: 40, icon: "search", shortcut: "f" },
    component: lazy(async () => (await import("./search.tsx")).Search),
  }),
];
