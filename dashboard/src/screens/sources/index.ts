import { screen } from "../../app/screen.ts";
import { SourceList } from "./source-list.tsx";
import { sources } from "./messages.ts";

export const sourcesScreens = [
  screen({
    path: "/sources",
    title: () => sources().title,
    navigation: { group: "content", order: 10, icon: "sources", shortcut: "s" },
    component: SourceList,
  }),
];
