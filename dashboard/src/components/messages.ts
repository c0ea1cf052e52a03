import { catalogue } from "../messages/language.ts";
import { components as de } from "../messages/de/components.ts";
import { components as en } from "../messages/en/components.ts";

export const components = catalogue({ en, de });
