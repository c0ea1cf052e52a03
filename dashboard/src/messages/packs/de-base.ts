export { components } from "../de/components.ts";
export { shell } from "../de/shell.ts";
export { titles } from "../de/titles.ts";
