import { bulk as en } from "../../messages/en/bulk.ts";
import { catalogue } from "../../messages/language.ts";

export const bulk = catalogue({
  en,
  de: async () => (await import("../../messages/de/bulk.ts")).bulk,
});
