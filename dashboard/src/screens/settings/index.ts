import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { settings } from "./messages.ts";

export const settingsScreens = [
  screen({
    path: "/settings",
    title: () => settings().title,
    navigation: { group: "manage", order: 90, icon: "settings" },
    component: lazy(async () => (await import("./settings.tsx")).Settings),
  }),
];
