/** All jobs, newest first: filters in the address, actions on all of a filter. */

import type { Job, JobSelection } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href, oneOf, readQuery, text } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { DataTable } from "../../components/data-table.tsx";
import { FilterChips, type Filter } from "../../components/filter-chips.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { components } from "../../components/messages.ts";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { useList } from "../../live/list.ts";
import { BulkAction } from "../bulk/bulk-action.tsx";
import { CsvButton } from "../sources/download.tsx";
import { failureCodes } from "../../messages/errors.ts";
import { sources } from "../sources/messages.ts";
import { beginning, PERIODS } from "../sources/periods.ts";
import { metadataOf } from "../sources/source-list.tsx";
import { jobColumns } from "./job-columns.tsx";
import { jobs } from "./messages.ts";
import { typeName } from "./words.ts";

const STATUSES = ["pending", "processing", "completed", "failed", "cancelled", "review_needed"] as const;
const QUERY = {
  q: text,
  status: oneOf(STATUSES),
  type: text,
  errorCode: text,
  queued: oneOf(PERIODS),
  knowledgeSourceId: text,
  batchId: text,
  parentJobId: text,
  collectionId: text,
  metadata: text,
};
type JobQuery = ReturnType<typeof readQuery<typeof QUERY>>;

export function JobList() {
  const query = readQuery(QUERY);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const filter = () => filterOf(query);
  const list = useList({
    load: (cursor, signal) => api.get("/api/jobs", { query: { ...filter(), cursor, limit: 50 }, signal }),
    dependencies: [query],
    keyOf: (job: Job) => job.id,
    every: 3000,
  });
  const known = useResource((signal) => api.get("/api/job-types", { query: { limit: 200 }, signal }), []);
  const types = [...new Set([...(known.data?.items ?? []).map(({ type }) => type), ...(query.type ? [query.type] : [])])];
  const rows = list.rows ?? [];
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  const csv = () => api.url("/api/jobs/export", { query: filter() });
  return (
    <ScreenFrame title={jobs().title} actions={rows.length > 0 && <CsvButton url={csv} name="jobs.csv" />}>
      <FilterChips filters={filters(types)} values={query} />
      <BulkAction of="jobs" filter={selectionOf(query)} selected={selected} isEmpty={rows.length === 0 && list.pager.next === undefined} onClear={() => setSelected(new Set())} onChange={(isEnded) => (isEnded ? list.reload() : list.refresh())} />
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton lines={8} />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {rows.length === 0
            ? <EmptyState icon={isFiltered ? "filter" : "jobs"} title={list.pager.next ? sources().nothingHere : isFiltered ? jobs().noMatch : jobs().empty}>{!isFiltered && <p>{jobs().emptyText}</p>}</EmptyState>
            : <DataTable caption={jobs().caption} columns={jobColumns()} rows={rows} keyOf={({ id }) => id} hrefOf={({ id }) => href(`/jobs/${id}`)} selection={{ selected, onChange: setSelected }} />}
          <Pager list={list} />
        </>
      )}
    </ScreenFrame>
  );
}

function filterOf({ queued, metadata, ...query }: JobQuery) {
  return { ...query, metadata: metadata === undefined ? undefined : [metadata], since: beginning(queued) };
}

function selectionOf({ queued, metadata, ...query }: JobQuery): JobSelection {
  const given = { ...query, since: beginning(queued), metadata: metadataOf(metadata) };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function filters(types: readonly string[]): Filter[] {
  const words = jobs();
  return [
    { kind: "text", name: "q", label: words.search, isSearch: true },
    { kind: "choice", name: "status", label: words.status, options: STATUSES.map((value) => ({ value, label: components().status[value]! })) },
    { kind: "choice", name: "type", label: words.type, options: types.map((value) => ({ value, label: typeName(value) })) },
    { kind: "text", name: "errorCode", label: words.code, suggestions: failureCodes() },
    { kind: "choice", name: "queued", label: words.since, options: PERIODS.map((value) => ({ value, label: sources().periods[value]! })) },
    { kind: "text", name: "knowledgeSourceId", label: words.source },
    { kind: "text", name: "batchId", label: words.batch },
    { kind: "text", name: "parentJobId", label: words.parent },
    { kind: "text", name: "metadata", label: words.metadata, placeholder: "key=value" },
  ];
}
