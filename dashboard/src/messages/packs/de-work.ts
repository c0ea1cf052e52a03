export { sources } from "../de/sources.ts";
export { batches } from "../de/batches.ts";
export { upload } from "../de/upload.ts";
export { crawl } from "../de/crawl.ts";
