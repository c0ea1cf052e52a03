import { settings as en } from "../../messages/en/settings.ts";
import { catalogue } from "../../messages/language.ts";

export const settings = catalogue({
  en,
  de: async () => (await import("../../messages/de/settings.ts")).settings,
});
