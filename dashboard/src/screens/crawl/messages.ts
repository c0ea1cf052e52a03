import { crawl as en } from "../../messages/en/crawl.ts";
import { catalogue } from "../../messages/language.ts";

export const crawl = catalogue({
  en,
  de: async () => (await import("../../messages/de/crawl.ts")).crawl,
});
