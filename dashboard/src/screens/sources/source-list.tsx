/** All sources, newest or largest first, live: filters and sorting in the address, actions on all of a filter. */

import type { Collection, Source, SourceSelection } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href, oneOf, readQuery, setQuery, text } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { LinkButton } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { FilterChips, type Filter } from "../../components/filter-chips.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { components } from "../../components/messages.ts";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Failure, ProgressBar, StatusBadge } from "../../components/status.tsx";
import { Bytes, Count, Name, Time } from "../../components/text.tsx";
import { useList } from "../../live/list.ts";
import { useResource } from "../../live/resource.ts";
import { useLiveSources, type LiveSource } from "../../live/sources.ts";
import { BulkAction } from "../bulk/bulk-action.tsx";
import { parseMetadata } from "../bulk/metadata-lines.ts";
import { WaitText } from "../jobs/wait-text.tsx";
import { CsvButton } from "./download.tsx";
import { failureCodes } from "../../messages/errors.ts";
import { sources } from "./messages.ts";
import { beginning, PERIODS } from "./periods.ts";
import { StateCounts } from "./state-counts.tsx";

export const STATUSES = ["pending", "processing", "completed", "partial", "failed", "cancelled", "review_needed"] as const;
const TYPES = ["file", "url", "site"] as const;
const QUERY = {
  q: text,
  status: oneOf(STATUSES),
  type: oneOf(TYPES),
  errorCode: text,
  batchId: text,
  collectionId: text,
  metadata: text,
  changed: oneOf(PERIODS),
  uri: text,
};
const SORT = { sort: oneOf(["createdAt", "updatedAt", "chunkCount", "tokenCount", "sizeBytes"]) };

export function SourceList() {
  const query = readQuery(QUERY);
  const { sort } = readQuery(SORT);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const filter = () => filterOf(query);
  const list = useList({
    load: (cursor, signal) => api.get("/api/knowledge-sources", { query: { ...filter(), sort, cursor, limit: 50 }, signal }),
    dependencies: [query, sort],
    keyOf: (source: Source) => source.id,
    every: 5000,
  });
  const counts = useResource((signal) => {
    const { status, ...others } = filter();
    return api.get("/api/knowledge-sources/counts", { query: others, signal });
  }, [{ ...query, status: undefined }], { every: 5000 });
  const collections = useResource((signal) => api.get("/api/collections", { query: { limit: 200 }, signal }), []);
  const rows = list.rows ?? [];
  const refresh = () => {
    list.refresh();
    counts.refresh();
  };
  const states = useLiveSources(rows.map(({ id }) => id), list.refresh);
  const csv = () => api.url("/api/knowledge-sources/export", { query: filter() });
  return (
    <ScreenFrame title={sources().title} actions={rows.length > 0 && <CsvButton url={csv} name="knowledge-sources.csv" />}>
      <FilterChips filters={filters(collections.data?.items ?? [])} values={query} />
      {counts.data && <StateCounts items={counts.data.items} active={query.status} label={sources().counts} />}
      <BulkAction of="sources" filter={selectionOf(query)} selected={selected} isEmpty={rows.length === 0 && list.pager.next === undefined} onClear={() => setSelected(new Set())}
        onChange={(isEnded) => {
          if (isEnded) list.reload();
          refresh();
        }} />
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton lines={8} />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {rows.length === 0
            ? <Empty isFiltered={Object.values(query).some((value) => value !== undefined)} goesOn={list.pager.next !== undefined} />
            : <DataTable caption={sources().caption} columns={columns(states)} rows={rows} keyOf={({ id }) => id}
                hrefOf={({ id }) => href(`/sources/${id}`)} selection={{ selected, onChange: setSelected }}
                sort={{ by: sort ?? "createdAt", isDescending: true }} onSort={({ by }) => setQuery({ sort: by === sort ? undefined : by, cursor: undefined })} />}
          <Pager list={list} />
        </>
      )}
    </ScreenFrame>
  );
}

type SourceQuery = ReturnType<typeof readQuery<typeof QUERY>>;

/** As the list takes it. */
function filterOf({ changed, metadata, ...query }: SourceQuery) {
  return { ...query, metadata: metadata === undefined ? undefined : [metadata], updatedSince: beginning(changed) };
}

/** As bulk actions take it. */
function selectionOf({ changed, metadata, ...query }: SourceQuery): SourceSelection {
  const given = { ...query, updatedSince: beginning(changed), metadata: metadataOf(metadata) };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The service refuses what is not `key=value`, and so does the list above the action. */
export function metadataOf(term: string | undefined): Record<string, unknown> | undefined {
  if (term === undefined) return undefined;
  try {
    return parseMetadata(term);
  } catch {
    return { [term]: null };
  }
}

/** Collections are chosen by name, unless the address names one that is not among the first. */
function filters(collections: readonly Collection[]): Filter[] {
  const message = sources();
  const { collectionId } = readQuery(QUERY);
  const isKnown = collectionId === undefined || collections.some(({ id }) => id === collectionId);
  return [
    { kind: "text", name: "q", label: message.search, isSearch: true },
    { kind: "choice", name: "status", label: message.status, options: STATUSES.map((value) => ({ value, label: components().status[value]! })) },
    { kind: "choice", name: "type", label: message.type, options: TYPES.map((value) => ({ value, label: message.types[value]! })) },
    { kind: "text", name: "errorCode", label: message.code, suggestions: failureCodes() },
    { kind: "choice", name: "changed", label: message.changed, options: PERIODS.map((value) => ({ value, label: message.periods[value]! })) },
    { kind: "text", name: "metadata", label: message.metadata, placeholder: "key=value" },
    isKnown
      ? { kind: "choice", name: "collectionId", label: message.collection, options: collections.map(({ id, name }) => ({ value: id, label: name })) }
      : { kind: "text", name: "collectionId", label: message.collection },
    { kind: "text", name: "batchId", label: message.batch },
  ];
}

function columns(states: ReadonlyMap<string, LiveSource>): Column<Source>[] {
  return [
    { key: "name", title: sources().name, isMain: true, cell: (source) => <SourceName source={source} /> },
    { key: "type", title: sources().type, isOptional: true, cell: ({ type }) => sources().types[type] ?? type },
    { key: "status", title: sources().status, cell: (source) => <State source={source} live={states.get(source.id)} /> },
    { key: "chunks", title: sources().chunks, isNumber: true, sort: "chunkCount", cell: (source) => <Count value={states.get(source.id)?.chunkCount ?? source.chunkCount} /> },
    { key: "tokens", title: sources().facts.tokens, isNumber: true, isOptional: true, sort: "tokenCount", cell: ({ tokenCount }) => <Count value={tokenCount} /> },
    { key: "size", title: sources().size, isNumber: true, isOptional: true, sort: "sizeBytes", cell: ({ sizeBytes }) => <Bytes value={sizeBytes} /> },
    { key: "updated", title: sources().updated, sort: "updatedAt", cell: ({ updatedAt }) => <Time value={updatedAt} /> },
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
      <WaitText status={status} waiting={source.waiting} />
      {(status === "failed" || status === "partial") && code && <Failure code={code} />}
    </span>
  );
}

function Empty({ isFiltered, goesOn }: { isFiltered: boolean; goesOn: boolean }) {
  if (goesOn) return <EmptyState icon="filter" title={sources().nothingHere} />;
  return isFiltered
    ? <EmptyState icon="filter" title={sources().noMatch} />
    : <EmptyState icon="sources" title={sources().empty}><p>{sources().emptyText}</p><LinkButton kind="primary" icon="upload" href={href("/upload")}>{sources().toDo.uploadFiles!}</LinkButton></EmptyState>;
}
