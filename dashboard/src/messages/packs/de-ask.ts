export { search } from "../de/search.ts";
export { document } from "../de/document.ts";
