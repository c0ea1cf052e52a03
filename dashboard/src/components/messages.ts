import { components as en } from "../messages/en/components.ts";
import { catalogue } from "../messages/language.ts";

export const components = catalogue({
  en,
  de: async () => (await import("../messages/packs/de-base.ts")).components,
});
