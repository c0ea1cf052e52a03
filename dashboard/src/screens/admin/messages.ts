import { admin as de } from "../../messages/de/admin.ts";
import { admin as en } from "../../messages/en/admin.ts";
import { catalogue } from "../../messages/language.ts";

export const admin = catalogue({ en, de });
