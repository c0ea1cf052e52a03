import { lazy } from "../../app/lazy.tsx";
import { screen } from "../../app/screen.ts";
import { titles } from "../../messages/titles.ts";

export const crawlScreens = [
  screen({
    path: "/crawl",
    title: () => titles().crawl,
    navigation: { group: "content", order: 30, icon: "crawl", role: "editor" },
    component: lazy(async () => (await import("../work.ts")).CrawlForm),
  }),
  screen({
    path: "/sites/:id",
    title: () => titles().site,
    component: lazy(async () => (await import("../work.ts")).Site),
  }),
];
