/** A document: the picture of a page, its text, its chunks; what is chosen in one is marked in all. */

import { ApiError, type ChunkView, type Document, type Pages } from "@rag-ingest/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { href, integer, oneOf, readQuery, setQuery, text } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { KeyValues, ScreenFrame } from "../../components/layout.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { StatusBadge, Warnings, type Status } from "../../components/status.tsx";
import { Name } from "../../components/text.tsx";
import { useResource } from "../../live/resource.ts";
import { percent } from "../../messages/format.ts";
import { ChunkList } from "./chunk-list.tsx";
import { pageOfCharacter } from "./geometry.ts";
import { LeftOut } from "./left-out.tsx";
import { WordList } from "./marked-words.tsx";
import { documents } from "./messages.ts";
import { PageImage } from "./page-image.tsx";
import { PageStrip } from "./page-strip.tsx";
import { partsOf, type Part } from "./parts.ts";
import { TextPane } from "./text-pane.tsx";
import { Toolbar } from "./toolbar.tsx";

const PANES = ["page", "text", "chunks"] as const;
export type Pane = (typeof PANES)[number];
const QUERY = { chunk: text, page: integer, pane: oneOf(PANES), words: text };
/** Characters of the words that are marked: a longer list is nobody's search. */
const LONGEST_WORDS = 500;

export function DocumentScreen({ params: { id } }: { params: { id: string } }) {
  const { chunk: chunkId } = readQuery(QUERY);
  const document = useResource((signal) => api.get("/api/documents/{id}", { path: { id }, signal }), [id]);
  const pages = useResource((signal) => api.get("/api/documents/{id}/pages", { path: { id }, signal }), [id]);
  const chunk = useResource((signal) => chunkOf(chunkId, signal), [chunkId]);
  const failure = document.error ?? pages.error ?? chunk.error;
  const title = document.data && titleOf(document.data);
  return (
    <ScreenFrame
      title={title === undefined ? documents().title : <Name>{title}</Name>}
      {...(document.data && { parent: { title: documents().source, path: `/sources/${document.data.knowledgeSourceId}` } })}
      lead={document.data && <Lead document={document.data} />}
    >
      {failure !== undefined && <ErrorCard error={failure} onRetry={() => [document, pages, chunk].forEach(({ refresh }) => refresh())} />}
      {document.data && pages.data && chunk.data !== undefined
        ? <Panes key={id} document={document.data} pages={pages.data} chunk={chunk.data} />
        : failure === undefined && <Skeleton lines={12} />}
    </ScreenFrame>
  );
}

type Chosen = ChunkView | null | "gone";

/** The chunk of the address; null without one. */
async function chunkOf(id: string | undefined, signal: AbortSignal): Promise<Chosen> {
  if (id === undefined) return null;
  try {
    return await api.get("/api/chunks/{id}", { path: { id }, signal });
  } catch (error) {
    if (error instanceof ApiError && [404, 422].includes(error.status)) return "gone";
    throw error;
  }
}

function titleOf(document: Document): string {
  return document.title ?? (document.uri.split("/").filter(Boolean).pop() || document.uri);
}

function Lead({ document }: { document: Document }) {
  const t = documents();
  const counts = [t.chunks(document.chunkCount), t.tokens(document.tokenCount), document.mediaType];
  if (document.coverage.pages > 1) counts.unshift(t.pages(document.coverage.pages));
  return <span class="document-lead"><StatusBadge status={document.status as Status} /> <Name>{document.uri}</Name> <span>{counts.join(" · ")}</span></span>;
}

function Panes({ document, pages, chunk }: { document: Document; pages: Pages; chunk: Chosen }) {
  const { page: wanted, pane = "page", words: listed = "" } = readQuery(QUERY);
  const words = useMemo(() => [...new Set(listed.slice(0, LONGEST_WORDS).split(/\s+/).filter(Boolean))], [listed]);
  const [pointed, setPointed] = useState<string | null>(null);
  const parts = partsOf(pages);
  const chosen = chunk !== null && chunk !== "gone" && chunk.documentId === document.id ? chunk : null;
  const home = chosen ? pageOfCharacter(parts, chosen.charStart) : 1;
  const part = parts[Math.min(Math.max(wanted ?? home, 1), parts.length) - 1]!;
  const path = { id: document.id };
  const range = { start: part.start, end: part.end };
  const list = useResource(
    (signal) => api.get("/api/documents/{id}/chunks", { path, query: { ...range, limit: 200 }, signal }),
    [document.id, document.updatedAt, range],
  );
  useEffect(() => setPointed(null), [part.number]);
  const chunks = list.data?.items ?? [];
  const choose = (id: string | null) => setQuery({ chunk: id ?? undefined, page: id && part.number === home ? undefined : part.number }, { replace: true });
  const go = (number: number) => setQuery({ page: number }, { replace: true });
  const hasImages = pages.images === "available";
  const shown = hasImages || pane !== "page" ? pane : "text";
  const common = { document, part, chunks, chosen: chosen?.chunkId ?? null, pointed, words, onPoint: setPointed, onChoose: choose };
  return (
    <div class="document">
      <Notices chunk={chunk} document={document} pages={pages} />
      <div class="document-top">
        <Toolbar parts={parts} current={part.number} pages={pages} pane={shown} home={chosen ? home : null} onGo={go} />
        <WordList words={words} />
        <PageStrip parts={parts} current={part.number} onGo={go} />
      </div>
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      <div class={`document-panes ${hasImages ? "with-image" : ""}`} data-pane={shown}>
        {hasImages && <PageImage {...common} />}
        <TextPane {...common} marked={rangeOf(pointed ?? chosen?.chunkId ?? null, chunks)} />
        <ChunkList {...common} isPaged={part.state !== null} isLoading={list.isLoading} isCut={list.data?.nextCursor != null} isStored={pages.images !== "original_not_stored"} />
      </div>
      {/^https?:/.test(document.uri) && <LeftOut id={document.id} />}
      <Facts document={document} />
    </div>
  );
}

export interface Marking {
  document: Document;
  part: Part;
  /** Of the page. */
  chunks: readonly Chunk[];
  chosen: string | null;
  /** The chunk under the pointer or the focus. */
  pointed: string | null;
  /** Of the search that it was opened from: marked in text and chunks. */
  words: readonly string[];
  onPoint: (id: string | null) => void;
  onChoose: (id: string | null) => void;
}

export type Chunk = Awaited<ReturnType<typeof listed>>["items"][number];
declare function listed(): ReturnType<typeof api.get<"/api/documents/{id}/chunks">>;

function rangeOf(id: string | null, chunks: readonly Chunk[]) {
  return chunks.find((chunk) => chunk.id === id) ?? null;
}

function Notices({ chunk, document, pages }: { chunk: Chosen; document: Document; pages: Pages }) {
  const t = documents();
  return (
    <>
      {chunk === "gone" && <p class="remark" role="status">{t.gone}</p>}
      {chunk !== null && chunk !== "gone" && chunk.documentId !== document.id && (
        <p class="remark" role="status">{t.elsewhere(chunk.title)} <a href={href(`/documents/${chunk.documentId}`, { chunk: chunk.chunkId })}>{t.openIt}</a></p>
      )}
      {pages.images !== "available" && <p class="remark">{pages.images === "no_page_images" ? t.noImages : t.notStored}</p>}
    </>
  );
}

function Facts({ document }: { document: Document }) {
  const t = documents();
  const { encoding, warnings, coverage } = document;
  return (
    <section class="card document-facts" aria-label={t.facts}>
      <KeyValues items={[
        [t.extractor, document.extractor],
        [t.encoding, encoding && t.encodingValue(encoding.name, percent(100 * encoding.confidence), encoding.replaced ?? 0)],
        [t.coverage, coverage.pages > 1 ? t.coverageValue(coverage) : null],
        [t.warnings, warnings.length > 0 ? <Warnings codes={warnings} /> : null],
      ]} />
    </section>
  );
}
