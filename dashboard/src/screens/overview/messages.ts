import { overview as en } from "../../messages/en/overview.ts";
import { catalogue } from "../../messages/language.ts";

export const overview = catalogue({
  en,
  de: async () => (await import("../../messages/de/overview.ts")).overview,
});
