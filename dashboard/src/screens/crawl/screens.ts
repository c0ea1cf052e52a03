/** Loaded together: who opens one of them mostly goes on to the others. */

export { CrawlForm } from "./crawl-form.tsx";
export { Site } from "./site.tsx";
