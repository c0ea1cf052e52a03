import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const jobsScreens = [
  screen({
    path: "/jobs",
    title: () => titles().jobs,
    navigation: { group: "work", order: 40, icon: "jobs", shortcut: "j" },
    component: lazy(async () => (await import("../work.ts")).JobList),
  }),
  screen({
    path: "/jobs/:id",
    title: () => titles().jobs,
    component: lazy(async () => (await import("../work.ts")).JobScreen),
  }),
  screen({
    path: "/reviews",
    title: () => titles().reviews,
    navigation: { group: "work", order: 50, icon: "reviews", shortcut: "r" },
    component: lazy(async () => (await import("../work.ts")).Reviews),
  }),
];
