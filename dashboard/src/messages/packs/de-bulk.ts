export { bulk } from "../de/bulk.ts";
