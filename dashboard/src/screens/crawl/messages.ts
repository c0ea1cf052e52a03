import { catalogue } from "../../messages/language.ts";

export const crawl = catalogue({
  en: async () => (await import("../../messages/packs/en-work.ts")).crawl,
  de: async () => (await import("../../messages/packs/de-work.ts")).crawl,
});
