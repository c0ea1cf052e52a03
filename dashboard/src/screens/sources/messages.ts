import { sources as de } from "../../messages/de/sources.ts";
import { sources as en } from "../../messages/en/sources.ts";
import { catalogue } from "../../messages/language.ts";

export const sources = catalogue({ en, de });
