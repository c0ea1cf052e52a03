import { catalogue } from "../../messages/language.ts";

export const admin = catalogue({
  en: async () => (await import("../../messages/packs/en-manage.ts")).admin,
  de: async () => (await import("../../messages/packs/de-manage.ts")).admin,
});
