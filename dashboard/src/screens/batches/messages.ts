import { catalogue } from "../../messages/language.ts";

export const batches = catalogue({
  en: async () => (await import("../../messages/packs/en-work.ts")).batches,
  de: async () => (await import("../../messages/packs/de-work.ts")).batches,
});
