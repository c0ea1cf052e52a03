import { batches as en } from "../../messages/en/batches.ts";
import { catalogue } from "../../messages/language.ts";

export const batches = catalogue({
  en,
  de: async () => (await import("../../messages/de/batches.ts")).batches,
});
