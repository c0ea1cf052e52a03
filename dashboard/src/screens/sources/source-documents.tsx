/** The documents of a source: one for a file, one per page of a site or file inside a file. */

import type { Document, Source } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Failure, StatusBadge, type Status } from "../../components/status.tsx";
import { Count, Name, Time } from "../../components/text.tsx";
import { useList } from "../../live/list.ts";
import { warningText } from "../../messages/errors.ts";
import { CoverageStrip } from "./coverage.tsx";
import { DownloadButton } from "./download.tsx";
import { sources } from "./messages.ts";

export function SourceDocuments({ source }: { source: Source }) {
  const list = useList({
    load: (cursor, signal) => api.get("/api/knowledge-sources/{id}/documents", { path: { id: source.id }, query: { cursor, limit: 50 }, signal }),
    dependencies: [source.id, source.status],
    keyOf: (document: Document) => document.id,
  });
  if (list.error !== undefined) return <ErrorCard error={list.error} onRetry={list.refresh} />;
  if (!list.rows) return <Skeleton />;
  if (!list.rows.length) return <EmptyState icon="file" title={sources().noDocuments} />;
  return (
    <>
      <DataTable caption={sources().documentsOf} columns={columns(source)} rows={list.rows} keyOf={({ id }) => id} hrefOf={({ id }) => href(`/documents/${id}`)} />
      <Pager list={list} />
    </>
  );
}

function columns(source: Source): Column<Document>[] {
  const words = sources();
  return [
    { key: "title", title: words.documentTitle, isMain: true, cell: ({ title, uri }) => <><Name>{title ?? uri}</Name>{title !== null && <small><Name>{uri}</Name></small>}</> },
    { key: "status", title: words.status, cell: ({ status, errorCode, errorMessage }) => (
      <span class="state"><StatusBadge status={status as Status} />{errorCode && <Failure code={errorCode} detail={errorMessage} />}</span>
    ) },
    { key: "coverage", title: words.coverage, isOptional: true, cell: ({ coverage }) => (coverage.pages > 1 ? <CoverageStrip coverage={coverage} /> : null) },
    { key: "warnings", title: words.warnings, isOptional: true, cell: ({ warnings }) => warnings.map((code) => <small key={code} title={code}>{warningText(code)} </small>) },
    { key: "type", title: words.mediaType, isOptional: true, cell: ({ mediaType }) => <code>{mediaType}</code> },
    { key: "chunks", title: words.chunks, isNumber: true, cell: ({ chunkCount }) => <Count value={chunkCount} /> },
    { key: "updated", title: words.updated, isOptional: true, cell: ({ updatedAt }) => <Time value={updatedAt} /> },
    ...(source.type === "file"
      ? [{ key: "original", title: words.original, cell: ({ id, uri }: Document) => <DownloadButton kind="quiet" label={words.original} name={uri.split("/").at(-1) ?? "original"} url={() => api.url("/api/documents/{id}/original", { path: { id } })} /> }]
      : []),
  ];
}
