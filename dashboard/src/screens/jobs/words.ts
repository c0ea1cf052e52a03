/** Job types and reasons to wait in words. Handlers may have their own, which are shown as they are. */

import { jobs } from "./messages.ts";

export function typeName(type: string): string {
  return jobs().types[type] ?? type;
}

/** What a job waits for, as in "it waits for …"; null: a free worker. */
export function waitOf(reason: string | null): string {
  return jobs().waitOf[reason ?? "free"] ?? reason!.replaceAll("_", " ");
}
