import { catalogue } from "../../messages/language.ts";

export const bulk = catalogue({
  en: async () => (await import("../../messages/packs/en-bulk.ts")).bulk,
  de: async () => (await import("../../messages/packs/de-bulk.ts")).bulk,
});
