import { sources as en } from "../../messages/en/sources.ts";
import { catalogue } from "../../messages/language.ts";

export const sources = catalogue({
  en,
  de: async () => (await import("../../messages/de/sources.ts")).sources,
});
