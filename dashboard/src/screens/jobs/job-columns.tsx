/** The columns of every list of jobs. */

import type { Job } from "@rag-ingest/client";
import type { Column } from "../../components/data-table.tsx";
import { ProgressBar, StatusBadge } from "../../components/status.tsx";
import { Missing, Name, Time } from "../../components/text.tsx";
import { duration, number } from "../../messages/format.ts";
import { sources } from "../sources/messages.ts";
import { jobs } from "./messages.ts";

export function jobColumns(): Column<Job>[] {
  const words = jobs();
  return [
    { key: "what", title: words.what, isMain: true, cell: (job) => <What job={job} /> },
    { key: "type", title: words.type, isOptional: true, cell: ({ type }) => <code>{type}</code> },
    { key: "status", title: words.status, cell: (job) => <JobState job={job} /> },
    { key: "attempts", title: words.attempts, isNumber: true, isOptional: true, cell: ({ attempts, maxAttempts }) => `${number(attempts)}/${number(maxAttempts)}` },
    { key: "took", title: words.took, isNumber: true, isOptional: true, cell: ({ durationMs }) => (durationMs === null ? <Missing /> : duration(durationMs)) },
    { key: "queued", title: words.queued, cell: ({ createdAt }) => <Time value={createdAt} /> },
  ];
}

function What({ job: { uri, sourceName, type } }: { job: Job }) {
  if (uri === null) return <>{type}</>;
  const base = sourceName ?? uri;
  return (
    <>
      <Name>{base}</Name>
      {uri !== base && <small><Name>{uri}</Name></small>}
    </>
  );
}

export function JobState({ job }: { job: Job }) {
  const { status, stage, progress, waitReason, lastErrorCode, runAt } = job;
  return (
    <span class="state">
      <StatusBadge status={status} />
      {status === "processing" && <ProgressBar value={progress} label={stage ?? jobs().stage} />}
      {status === "processing" && stage && <small>{sources().stageNames[stage] ?? stage}</small>}
      {status === "pending" && (
        <small>{jobs().waits(waitReason === null ? jobs().free : sources().reasons[waitReason] ?? waitReason.replaceAll("_", " "))} {runAt && <Time value={runAt} />}</small>
      )}
      {lastErrorCode && status !== "completed" && <code>{lastErrorCode}</code>}
    </span>
  );
}
