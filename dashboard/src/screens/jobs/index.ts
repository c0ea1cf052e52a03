import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { jobs } from "./messages.ts";

export const jobsScreens = [
  screen({
    path: "/jobs",
    title: () => jobs().title,
    navigation: { group: "work", order: 40, icon: "jobs", shortcut: "j" },
    component: lazy(async () => (await import("./job-list.tsx")).JobList),
  }),
  screen({
    path: "/jobs/:id",
    title: () => jobs().title,
    component: lazy(async () => (await import("./job.tsx")).JobScreen),
  }),
  screen({
    path: "/reviews",
    title: () => jobs().reviews,
    navigation: { group: "work", order: 50, icon: "reviews", shortcut: "r" },
    component: lazy(async () => (await import("./reviews.tsx")).Reviews),
  }),
];
