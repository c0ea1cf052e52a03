import { catalogue } from "../../messages/language.ts";

export const search = catalogue({
  en: async () => (await import("../../messages/packs/en-ask.ts")).search,
  de: async () => (await import("../../messages/packs/de-ask.ts")).search,
});
