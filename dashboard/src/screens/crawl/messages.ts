import { crawl as de } from "../../messages/de/crawl.ts";
import { crawl as en } from "../../messages/en/crawl.ts";
import { catalogue } from "../../messages/language.ts";

export const crawl = catalogue({ en, de });
