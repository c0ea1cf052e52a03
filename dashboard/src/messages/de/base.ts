/** What the page needs before its first screen, in one file. */

export { components } from "./components.ts";
export { shell } from "./shell.ts";
export { titles } from "./titles.ts";
