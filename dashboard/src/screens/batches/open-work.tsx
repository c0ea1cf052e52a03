/** What the open files of an upload wait for, with the number of each. */

import type { OpenJobs } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { useResource } from "../../live/resource.ts";
import { number } from "../../messages/format.ts";
import { waitOf } from "../jobs/words.ts";
import { batches } from "./messages.ts";

export function OpenWork({ batchId }: { batchId: string }) {
  const jobs = useResource((signal) => api.get("/api/jobs/counts", { query: { batchId }, signal }), [batchId], { every: 3000 });
  const waiting = byReason(jobs.data?.items ?? []);
  if (!waiting.size) return null;
  return (
    <ul class="legends">
      {[...waiting].map(([reason, count]) => (
        <li key={reason} class="legend neutral"><a href={href("/jobs", { batchId, status: "pending" })}>{batches().waits(count, number(count), waitOf(reason))}</a></li>
      ))}
    </ul>
  );
}

function byReason(jobs: readonly OpenJobs[]): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { status, waitReason, count } of jobs) {
    if (status === "pending") counts.set(waitReason, (counts.get(waitReason) ?? 0) + count);
  }
  return counts;
}
