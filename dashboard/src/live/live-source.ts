/** The live state of one source, made of messages. */

import type { LiveMessage, Source } from "@rag-ingest/client";

/** What messages say of a source; a field is missing until a message has it. */
export interface LiveSource {
  status?: Source["status"];
  /** 0 to 100; null while the total is unknown. */
  percent?: number | null;
  etaSeconds?: number | null;
  stage?: string | null;
  total?: number;
  completed?: number;
  failed?: number;
  errorCode?: string | null;
  chunkCount?: number;
}

const FIELDS = ["status", "percent", "etaSeconds", "stage", "total", "completed", "failed", "errorCode", "chunkCount"] as const;

/** The state after a message; without a percentage, that of before stays, until the status changes. */
export function apply(before: LiveSource | undefined, message: LiveMessage): LiveSource {
  if (message.type === "error") return before ?? {};
  const known = FIELDS.filter((name) => name in message);
  const after: LiveSource = { ...before, ...Object.fromEntries(known.map((name) => [name, message[name]])) };
  if (after.percent === null && message.type !== "snapshot" && after.status === before?.status) {
    after.percent = before?.percent ?? null;
  }
  return after;
}
