import { catalogue } from "../../messages/language.ts";

export const sources = catalogue({
  en: async () => (await import("../../messages/packs/en-work.ts")).sources,
  de: async () => (await import("../../messages/packs/de-work.ts")).sources,
});
