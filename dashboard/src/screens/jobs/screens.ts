/** Loaded together: who opens one of them mostly goes on to the others. */

export { JobScreen } from "./job.tsx";
export { JobList } from "./job-list.tsx";
export { Reviews } from "./reviews.tsx";
