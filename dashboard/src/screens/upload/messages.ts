import { upload as en } from "../../messages/en/upload.ts";
import { catalogue } from "../../messages/language.ts";

export const upload = catalogue({
  en,
  de: async () => (await import("../../messages/de/upload.ts")).upload,
});
