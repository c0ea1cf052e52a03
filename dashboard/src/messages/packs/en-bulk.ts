export { bulk } from "../en/bulk.ts";
