import { shell as de } from "./de/shell.ts";
import { shell as en } from "./en/shell.ts";
import { catalogue } from "./language.ts";

export const shell = catalogue({ en, de });
