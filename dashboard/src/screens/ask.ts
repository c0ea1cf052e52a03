/** Searches and what they find: loaded together, because they share parts and compress better as one. */

import { addStyles } from "../app/styles.ts";

export { Evaluation } from "./search/evaluation.tsx";
export { Search } from "./search/search.tsx";
export { DocumentScreen } from "./document/document.tsx";

// They are drawn when these are there.
await addStyles("ask");
