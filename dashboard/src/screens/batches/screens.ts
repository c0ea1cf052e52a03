/** Loaded together: who opens one of them mostly goes on to the others. */

export { BatchScreen } from "./batch.tsx";
export { BatchList } from "./batch-list.tsx";
