import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const batchesScreens = [
  screen({
    path: "/batches",
    title: () => titles().batches,
    navigation: { group: "work", order: 60, icon: "batches", shortcut: "b" },
    component: lazy(async () => (await import("../work.ts")).BatchList),
  }),
  screen({
    path: "/batches/:id",
    title: () => titles().batches,
    component: lazy(async () => (await import("../work.ts")).BatchScreen),
  }),
];
