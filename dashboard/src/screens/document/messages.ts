import { catalogue } from "../../messages/language.ts";

export const documents = catalogue({
  en: async () => (await import("../../messages/packs/en-ask.ts")).document,
  de: async () => (await import("../../messages/packs/de-ask.ts")).document,
});
