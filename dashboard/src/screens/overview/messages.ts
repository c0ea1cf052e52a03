import { catalogue } from "../../messages/language.ts";

export const overview = catalogue({
  en: async () => (await import("../../messages/packs/en-overview.ts")).overview,
  de: async () => (await import("../../messages/packs/de-overview.ts")).overview,
});
