export { admin } from "../en/admin.ts";
export { settings } from "../en/settings.ts";
