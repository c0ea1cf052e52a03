import { catalogue } from "../../messages/language.ts";

export const jobs = catalogue({
  en: async () => (await import("../../messages/packs/en-overview.ts")).jobs,
  de: async () => (await import("../../messages/packs/de-overview.ts")).jobs,
});
