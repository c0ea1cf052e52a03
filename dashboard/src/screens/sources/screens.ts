/** Loaded together: who opens one of them mostly goes on to the others. */

export { SourceScreen } from "./source.tsx";
export { SourceList } from "./source-list.tsx";
