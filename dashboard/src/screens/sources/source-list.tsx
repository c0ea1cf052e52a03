/** All sources, newest first, live. The pattern for list screens. */

import type { Source } from "@rag-ingest/client";
import { oneOf, readQuery, text } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { FilterChips, type Filter } from "../../components/filter-chips.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { components } from "../../components/messages.ts";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { ProgressBar, StatusBadge } from "../../components/status.tsx";
import { Bytes, Count, Name, Time } from "../../components/text.tsx";
import { useList } from "../../live/list.ts";
import { useLiveSources, type LiveSource } from "../../live/sources.ts";
import { sources } from "./messages.ts";

const STATUSES = ["pending", "processing", "completed", "partial", "failed", "cancelled", "review_needed"] as const;
const TYPES = ["file", "url", "site"] as const;
const QUERY = { status: oneOf(STATUSES), type: oneOf(TYPES), batchId: text, uri: text };

export function SourceList() {
  const query = readQuery(QUERY);
  const list = useList({
    load: (cursor, signal) => api.get("/api/knowledge-sources", { query: { ...query, cursor, limit: 50 }, signal }),
    dependencies: [query],
    keyOf: (source: Source) => source.id,
    every: 5000,
  });
  const rows = list.rows ?? [];
  const states = useLiveSources(rows.map(({ id }) => id), list.refresh);
  return (
    <ScreenFrame title={sources().title}>
      <FilterChips filters={filters()} values={query} />
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton lines={8} />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {rows.length === 0
            ? <Empty isFiltered={Object.values(query).some((value) => value !== undefined)} />
            : <DataTable caption={sources().caption} columns={columns(states)} rows={rows} keyOf={({ id }) => id} />}
          <Pager list={list} />
        </>
      )}
    </ScreenFrame>
  );
}

function filters(): Filter[] {
  return [
    { kind: "choice", name: "status", label: sources().status, options: STATUSES.map((value) => ({ value, label: components().status[value]! })) },
    { kind: "choice", name: "type", label: sources().type, options: TYPES.map((value) => ({ value, label: sources().types[value]! })) },
  ];
}

function columns(states: ReadonlyMap<string, LiveSource>): Column<Source>[] {
  return [
    { key: "name", title: sources().name, isMain: true, cell: (source) => <SourceName source={source} /> },
    { key: "type", title: sources().type, isOptional: true, cell: ({ type }) => sources().types[type] ?? type },
    { key: "status", title: sources().status, cell: (source) => <State source={source} live={states.get(source.id)} /> },
    { key: "chunks", title: sources().chunks, isNumber: true, cell: (source) => <Count value={states.get(source.id)?.chunkCount ?? source.chunkCount} /> },
    { key: "size", title: sources().size, isNumber: true, isOptional: true, cell: ({ sizeBytes }) => <Bytes value={sizeBytes} /> },
    { key: "updated", title: sources().updated, cell: ({ updatedAt }) => <Time value={updatedAt} /> },
  ];
}

/** The name, and below it the path or address where it says more. */
function SourceName({ source }: { source: Source }) {
  return (
    <>
      <Name>{source.name}</Name>
      {source.uri !== source.name && <small><Name>{source.uri}</Name></small>}
    </>
  );
}

function State({ source, live }: { source: Source; live: LiveSource | undefined }) {
  const status = live?.status ?? source.status;
  const code = live?.errorCode ?? source.errorCode;
  return (
    <span class="state">
      <StatusBadge status={status} />
      {status === "processing" && <ProgressBar value={live?.percent} label={sources().progress(source.name)} />}
      {status === "pending" && source.waiting && <small>{sources().waitsFor(source.waiting.reason)}</small>}
      {(status === "failed" || status === "partial") && code && <code>{code}</code>}
    </span>
  );
}

function Empty({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered
    ? <EmptyState icon="filter" title={sources().noMatch} />
    : <EmptyState icon="sources" title={sources().empty}><p>{sources().emptyText}</p></EmptyState>;
}
