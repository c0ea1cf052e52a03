import { shell as en } from "./en/shell.ts";
import { catalogue } from "./language.ts";

export const shell = catalogue({ en, de: async () => (await import("./packs/de-base.ts")).shell });
