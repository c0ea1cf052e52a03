/** The chunks of a source, as the search finds them. */

import type { Chunk, Source } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { useList } from "../../live/list.ts";
import { number } from "../../messages/format.ts";
import { sources } from "./messages.ts";

export function SourceChunks({ source }: { source: Source }) {
  const list = useList({
    load: (cursor, signal) => api.get("/api/knowledge-sources/{id}/chunks", { path: { id: source.id }, query: { cursor, limit: 20 }, signal }),
    dependencies: [source.id, source.status, source.chunkCount],
    keyOf: (chunk: Chunk) => chunk.id,
  });
  if (list.error !== undefined) return <ErrorCard error={list.error} onRetry={list.refresh} />;
  if (!list.rows) return <Skeleton />;
  if (!list.rows.length) return <EmptyState icon="file" title={sources().noChunks} />;
  return (
    <>
      <ol class="chunks" aria-label={sources().chunksOf}>{list.rows.map((chunk) => <ChunkItem key={chunk.id} chunk={chunk} />)}</ol>
      <Pager list={list} />
    </>
  );
}

export function ChunkItem({ chunk }: { chunk: Chunk }) {
  const { page, pageEnd } = chunk;
  return (
    <li class="card chunk">
      <header>
        <a href={href(`/documents/${chunk.documentId}`, { chunk: chunk.id })}>#{number(chunk.ordinal + 1)}</a>
        {chunk.headings.length > 0 && <bdi dir="auto">{chunk.headings.join(" › ")}</bdi>}
        {page !== null && <span>{sources().page(page, pageEnd ?? page)}</span>}
        <span>{sources().tokens(chunk.tokenCount, number(chunk.tokenCount))}</span>
        <CopyButton text={chunk.content} />
      </header>
      <p class="chunk-text" dir="auto">{chunk.content}</p>
    </li>
  );
}
