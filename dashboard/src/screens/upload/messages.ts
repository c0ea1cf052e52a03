import { catalogue } from "../../messages/language.ts";

export const upload = catalogue({
  en: async () => (await import("../../messages/packs/en-work.ts")).upload,
  de: async () => (await import("../../messages/packs/de-work.ts")).upload,
});
