/** The columns of every list of jobs. */

import type { Job } from "@rag-ingest/client";
import type { Column } from "../../components/data-table.tsx";
import { Failure, ProgressBar, StatusBadge } from "../../components/status.tsx";
import { Missing, Name, Time } from "../../components/text.tsx";
import { duration, number } from "../../messages/format.ts";
import { sources } from "../sources/messages.ts";
import { jobs } from "./messages.ts";
import { typeName, waitOf } from "./words.ts";

export function jobColumns(): Column<Job>[] {
  const words = jobs();
  return [
    { key: "what", title: words.what, isMain: true, cell: (job) => <What job={job} /> },
    { key: "type", title: words.type, isOptional: true, cell: ({ type }) => typeName(type) },
    { key: "status", title: words.status, cell: (job) => <JobState job={job} /> },
    { key: "attempts", title: words.attempts, isNumber: true, isOptional: true, cell: ({ attempts, maxAttempts }) => `${number(attempts)}/${number(maxAttempts)}` },
    { key: "took", title: words.took, isNumber: true, isOptional: true, cell: ({ durationMs }) => (durationMs === null ? <Missing /> : duration(durationMs)) },
    { key: "queued", title: words.queued, cell: ({ createdAt }) => <Time value={createdAt} /> },
  ];
}

function What({ job: { uri, sourceName, type } }: { job: Job }) {
  if (uri === null) return <>{typeName(type)}</>;
  // Many pages share the name of their site.
  const [main, more] = type === "crawl_page" ? [uri, sourceName] : [sourceName ?? uri, uri];
  return (
    <>
      <Name>{main}</Name>
      {more !== null && more !== main && <small><Name>{more}</Name></small>}
    </>
  );
}

export function reasonOf({ waitReason, runAt }: Job): string | null {
  return waitReason ?? (runAt === null ? null : "scheduled");
}

/** Whether somebody ends the wait: `runAt` is then only when the worker looks again. */
export function isPaused(waitReason: string | null | undefined): boolean {
  return waitReason === "paused" || waitReason === "provider_paused";
}

export function JobState({ job }: { job: Job }) {
  const { status, stage, progress, waitReason, lastErrorCode, runAt } = job;
  return (
    <span class="state">
      <StatusBadge status={status} />
      {status === "processing" && <ProgressBar value={progress} label={stage ?? jobs().stage} />}
      {status === "processing" && stage && <small>{sources().stageNames[stage] ?? stage}</small>}
      {status === "pending" && (
        <small>{jobs().waitsFor(waitOf(reasonOf(job)))} {runAt && !isPaused(waitReason) && <Time value={runAt} />}</small>
      )}
      {lastErrorCode && status !== "completed" && <Failure code={lastErrorCode} detail={job.lastErrorMessage} />}
    </span>
  );
}
