import { titles as en } from "./en/titles.ts";
import { catalogue } from "./language.ts";

export const titles = catalogue({ en, de: async () => (await import("./packs/de-base.ts")).titles });
