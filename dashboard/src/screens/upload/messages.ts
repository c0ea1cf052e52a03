import { upload as de } from "../../messages/de/upload.ts";
import { upload as en } from "../../messages/en/upload.ts";
import { catalogue } from "../../messages/language.ts";

export const upload = catalogue({ en, de });
