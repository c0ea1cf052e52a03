import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { crawl } from "./messages.ts";

export const crawlScreens = [
  screen({
    path: "/crawl",
    title: () => crawl().title,
    navigation: { group: "content", order: 30, icon: "crawl" },
    component: lazy(async () => (await import("./crawl-form.tsx")).CrawlForm),
  }),
  screen({
    path: "/sites/:id",
    title: () => crawl().site,
    component: lazy(async () => (await import("./site.tsx")).Site),
  }),
];
