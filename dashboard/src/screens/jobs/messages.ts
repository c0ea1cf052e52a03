import { jobs as de } from "../../messages/de/jobs.ts";
import { jobs as en } from "../../messages/en/jobs.ts";
import { catalogue } from "../../messages/language.ts";

export const jobs = catalogue({ en, de });
