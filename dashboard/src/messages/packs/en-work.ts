export { sources } from "../en/sources.ts";
export { batches } from "../en/batches.ts";
export { upload } from "../en/upload.ts";
export { crawl } from "../en/crawl.ts";
