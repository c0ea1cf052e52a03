import { catalogue } from "../../messages/language.ts";

export const settings = catalogue({
  en: async () => (await import("../../messages/packs/en-manage.ts")).settings,
  de: async () => (await import("../../messages/packs/de-manage.ts")).settings,
});
