import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const settingsScreens = [
  screen({
    path: "/settings",
    title: () => titles().settings,
    navigation: { group: "manage", order: 90, icon: "settings" },
    component: lazy(async () => (await import("../manage.ts")).Settings),
  }),
];
