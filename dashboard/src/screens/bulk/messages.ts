import { bulk as de } from "../../messages/de/bulk.ts";
import { bulk as en } from "../../messages/en/bulk.ts";
import { catalogue } from "../../messages/language.ts";

export const bulk = catalogue({ en, de });
