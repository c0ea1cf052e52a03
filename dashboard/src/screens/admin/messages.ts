import { admin as en } from "../../messages/en/admin.ts";
import { catalogue } from "../../messages/language.ts";

export const admin = catalogue({
  en,
  de: async () => (await import("../../messages/de/admin.ts")).admin,
});
