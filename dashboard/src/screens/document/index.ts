import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { documents } from "./messages.ts";

export const documentScreens = [
  screen({
    path: "/documents/:id",
    title: () => documents().title,
    component: lazy(async () => (await import("./document.tsx")).DocumentScreen),
  }),
];
