import { batches as de } from "../../messages/de/batches.ts";
import { batches as en } from "../../messages/en/batches.ts";
import { catalogue } from "../../messages/language.ts";

export const batches = catalogue({ en, de });
