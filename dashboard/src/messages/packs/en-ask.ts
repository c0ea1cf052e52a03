export { search } from "../en/search.ts";
export { document } from "../en/document.ts";
