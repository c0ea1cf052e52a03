import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const documentScreens = [
  screen({
    path: "/documents/:id",
    title: () => titles().document,
    component: lazy(async () => (await import("../ask.ts")).DocumentScreen),
  }),
];
