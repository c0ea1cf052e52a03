export { overview } from "../en/overview.ts";
export { jobs } from "../en/jobs.ts";
