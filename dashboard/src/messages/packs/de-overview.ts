export { overview } from "../de/overview.ts";
export { jobs } from "../de/jobs.ts";
