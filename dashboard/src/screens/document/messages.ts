import { document as en } from "../../messages/en/document.ts";
import { catalogue } from "../../messages/language.ts";

export const documents = catalogue({
  en,
  de: async () => (await import("../../messages/de/document.ts")).document,
});
