import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { sources } from "./messages.ts";

export const sourcesScreens = [
  screen({
    path: "/sources",
    title: () => sources().title,
    navigation: { group: "content", order: 10, icon: "sources", shortcut: "s" },
    component: lazy(async () => (await import("./source-list.tsx")).SourceList),
  }),
];
