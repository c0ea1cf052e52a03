/** "waits for …" beside the state of what is open. */

import type { Source } from "@rag-ingest/client";
import { jobs } from "./messages.ts";
import { waitOf } from "./words.ts";

export function WaitText({ status, waiting }: Pick<Source, "status" | "waiting">) {
  if (status !== "pending" && !(status === "processing" && waiting)) return null;
  return <small>{jobs().waitsFor(waitOf(waiting?.reason ?? null))}</small>;
}
