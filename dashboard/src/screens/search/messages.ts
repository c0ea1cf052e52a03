import { search as en } from "../../messages/en/search.ts";
import { catalogue } from "../../messages/language.ts";

export const search = catalogue({
  en,
  de: async () => (await import("../../messages/de/search.ts")).search,
});
