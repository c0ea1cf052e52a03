import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const adminScreens = [
  screen({
    path: "/collections",
    title: () => titles().collections,
    navigation: { group: "content", order: 40, icon: "collections", shortcut: "c" },
    component: lazy(async () => (await import("../manage.ts")).Collections),
  }),
  screen({
    path: "/collections/:id",
    title: () => titles().collections,
    component: lazy(async () => (await import("../manage.ts")).CollectionView),
  }),
  screen({
    path: "/schedules",
    title: () => titles().schedules,
    navigation: { group: "manage", order: 10, icon: "schedules" },
    component: lazy(async () => (await import("../manage.ts")).Schedules),
  }),
  screen({
    path: "/webhooks",
    title: () => titles().webhooks,
    navigation: { group: "manage", order: 20, icon: "webhooks", role: "admin" },
    component: lazy(async () => (await import("../manage.ts")).Webhooks),
  }),
  screen({
    path: "/webhooks/:id",
    title: () => titles().webhooks,
    component: lazy(async () => (await import("../manage.ts")).Endpoint),
  }),
  screen({
    path: "/job-types",
    title: () => titles().jobTypes,
    navigation: { group: "manage", order: 30, icon: "jobTypes" },
    component: lazy(async () => (await import("../manage.ts")).JobTypes),
  }),
  screen({
    path: "/applications",
    title: () => titles().applications,
    navigation: { group: "manage", order: 40, icon: "applications", role: "admin" },
    component: lazy(async () => (await import("../manage.ts")).Applications),
  }),
  screen({
    path: "/applications/:id",
    title: () => titles().application,
    component: lazy(async () => (await import("../manage.ts")).ApplicationView),
  }),
];
