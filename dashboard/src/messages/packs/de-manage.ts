export { admin } from "../de/admin.ts";
export { settings } from "../de/settings.ts";
