import { jobs as en } from "../../messages/en/jobs.ts";
import { catalogue } from "../../messages/language.ts";

export const jobs = catalogue({
  en,
  de: async () => (await import("../../messages/de/jobs.ts")).jobs,
});
