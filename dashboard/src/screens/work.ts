/** What is stored and what is done with it: loaded together, because they share parts and compress better as one. */

export { SourceScreen } from "./sources/source.tsx";
export { SourceList } from "./sources/source-list.tsx";
export { JobScreen } from "./jobs/job.tsx";
export { JobList } from "./jobs/job-list.tsx";
export { Reviews } from "./jobs/reviews.tsx";
export { BatchScreen } from "./batches/batch.tsx";
export { BatchList } from "./batches/batch-list.tsx";
export { CrawlForm } from "./crawl/crawl-form.tsx";
export { Site } from "./crawl/site.tsx";
export { UploadScreen } from "./upload/upload-screen.tsx";
