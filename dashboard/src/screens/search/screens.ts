/** Loaded together: both have the fields of a ranking. */

export { Evaluation } from "./evaluation.tsx";
export { Search } from "./search.tsx";
