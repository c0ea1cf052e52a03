/** How the file would be cut with other settings, beside its chunks as they are. Nothing is changed. */

import type { Chunking, Document, PreviewAnswer, PreviewChunk } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { LinkButton } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Form } from "../../components/fields.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { ChunkingFields, type ChunkingDraft } from "../bulk/chunking-fields.tsx";
import type { Chunk } from "./document.tsx";
import { documents } from "./messages.ts";
import type { Part } from "./parts.ts";

interface OtherChunksProps {
  document: Document;
  part: Part;
  /** Of the part, as they are stored. */
  chunks: readonly Chunk[];
  onClose: () => void;
}

export function OtherChunks({ document, part, chunks, onClose }: OtherChunksProps) {
  const t = documents();
  const source = useResource((signal) => api.get("/api/knowledge-sources/{id}", { path: { id: document.knowledgeSourceId }, signal }), [document.knowledgeSourceId]);
  const [draft, setDraft] = useState<ChunkingDraft>({});
  const [other, setOther] = useState<PreviewAnswer>();
  const here = other?.chunks.filter((chunk) => isIn(chunk, part)) ?? [];
  return (
    <Dialog title={t.otherChunks} onClose={onClose} isWide>
      {source.error !== undefined && <ErrorCard error={source.error} onRetry={source.refresh} />}
      {source.isLoading && <Skeleton lines={3} />}
      {source.data && (
        <Form submit={t.preview} fields={["size", "overlap"]} onSubmit={async () => setOther(await preview(document, { ...source.data!.effectiveChunking, ...draft } as Chunking))}
          extra={<LinkButton href={href(`/sources/${document.knowledgeSourceId}`, { tab: "settings" })}>{t.toSettings}</LinkButton>}>
          {(error) => <ChunkingFields value={draft} onValue={setDraft} error={error} inherited={source.data!.effectiveChunking} />}
        </Form>
      )}
      {other && (
        <div class="columns">
          <Column title={t.stored} counts={[t.chunks(document.chunkCount), t.tokens(document.tokenCount)]} chunks={chunks} />
          <Column title={t.wouldBe} counts={[t.chunks(other.chunkCount), t.tokens(other.tokenCount)]} chunks={here} />
        </div>
      )}
      {other?.isTruncated && <p class="hint">{t.previewCut}</p>}
    </Dialog>
  );
}

function Column({ title, counts, chunks }: { title: string; counts: readonly string[]; chunks: readonly (Chunk | PreviewChunk)[] }) {
  const t = documents();
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <p class="lead">{counts.join(" · ")}</p>
      {chunks.length === 0 && <p class="missing">{t.noChunks}</p>}
      <ol class="chunk-list compared">
        {chunks.map((chunk) => (
          <li key={chunk.ordinal}>
            <span class="chunk-facts"><strong>{t.chunk(chunk.ordinal + 1)}</strong> <span>{t.tokens(chunk.tokenCount)}</span></span>
            <span class="chunk-whole" dir="auto">{chunk.content}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** As `documents/{id}/chunks` chooses the chunks of a page: those that have a character of it. */
function isIn({ start, end }: PreviewChunk, part: Part): boolean {
  return start < part.end && end > part.start;
}

/** The stored file is read and cut anew, by the route that anybody can ask; it stores nothing. */
async function preview(document: Document, chunking: Chunking): Promise<PreviewAnswer> {
  const original = await api.request<Response>("GET", "/api/documents/{id}/original", { path: { id: document.id } });
  const form = new FormData();
  form.append("chunking", JSON.stringify(chunking));
  form.append("file", await original.blob(), document.uri.split("/").pop()!);
  return api.post("/api/preview", { body: form });
}
