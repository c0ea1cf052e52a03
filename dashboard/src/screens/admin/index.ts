import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { admin } from "./messages.ts";

export const adminScreens = [
  screen({
    path: "/collections",
    title: () => admin().collections,
    navigation: { group: "content", order: 40, icon: "collections", shortcut: "c" },
    component: lazy(async () => (await import("./collections.tsx")).Collections),
  }),
  screen({
    path: "/collections/:id",
    title: () => admin().collections,
    component: lazy(async () => (await import("./collections.tsx")).CollectionView),
  }),
  screen({
    path: "/schedules",
    title: () => admin().schedules,
    navigation: { group: "manage", order: 10, icon: "schedules" },
    component: lazy(async () => (await import("./schedules.tsx")).Schedules),
  }),
  screen({
    path: "/webhooks",
    title: () => admin().webhooks,
    navigation: { group: "manage", order: 20, icon: "webhooks" },
    component: lazy(async () => (await import("./webhooks.tsx")).Webhooks),
  }),
  screen({
    path: "/webhooks/:id",
    title: () => admin().webhooks,
    component: lazy(async () => (await import("./endpoint.tsx")).Endpoint),
  }),
  screen({
    path: "/job-types",
    title: () => admin().jobTypes,
    navigation: { group: "manage", order: 30, icon: "jobTypes" },
    component: lazy(async () => (await import("./job-types.tsx")).JobTypes),
  }),
  screen({
    path: "/applications",
    title: () => admin().applications,
    navigation: { group: "manage", order: 40, icon: "applications" },
    component: lazy(async () => (await import("./applications.tsx")).Applications),
  }),
  screen({
    path: "/applications/:id",
    title: () => admin().application,
    component: lazy(async () => (await import("./application.tsx")).ApplicationView),
  }),
];
