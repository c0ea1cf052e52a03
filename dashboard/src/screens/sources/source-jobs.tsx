/** The jobs of a source, and the log of the current one. */

import type { Job, Source } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Pager } from "../../components/pager.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { useList } from "../../live/list.ts";
import { jobColumns } from "../jobs/job-columns.tsx";
import { JobLog } from "../jobs/job-log.tsx";
import { jobs } from "../jobs/messages.ts";

export function SourceJobs({ source }: { source: Source }) {
  const list = useList({
    load: (cursor, signal) => api.get("/api/jobs", { query: { knowledgeSourceId: source.id, cursor, limit: 20 }, signal }),
    dependencies: [source.id],
    keyOf: (job: Job) => job.id,
    every: 5000,
  });
  if (list.error !== undefined) return <ErrorCard error={list.error} onRetry={list.refresh} />;
  if (!list.rows) return <Skeleton />;
  return (
    <>
      <DataTable caption={jobs().caption} columns={jobColumns()} rows={list.rows} keyOf={({ id }) => id} hrefOf={({ id }) => href(`/jobs/${id}`)} />
      <Pager list={list} />
      {source.jobId && <JobLog jobId={source.jobId} />}
    </>
  );
}
