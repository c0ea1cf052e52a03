import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { batches } from "./messages.ts";

export const batchesScreens = [
  screen({
    path: "/batches",
    title: () => batches().title,
    navigation: { group: "work", order: 60, icon: "batches", shortcut: "b" },
    component: lazy(async () => (await import("./batch-list.tsx")).BatchList),
  }),
  screen({
    path: "/batches/:id",
    title: () => batches().title,
    component: lazy(async () => (await import("./batch.tsx")).BatchScreen),
  }),
];
