/** The chunks of a page, in reading order. */

import { useEffect, useRef, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { may } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { copyText } from "../../components/copy-button.tsx";
import { Id } from "../../components/layout.tsx";
import { Skeleton } from "../../components/states.tsx";
import { toast } from "../../components/toasts.tsx";
import type { Chunk, Marking } from "./document.tsx";
import { MarkedWords } from "./marked-words.tsx";
import { documents } from "./messages.ts";
import { OtherChunks } from "./other-chunks.tsx";
import { reveal } from "./reveal.ts";

/** Characters of a question that is made of a chunk. */
const QUESTION = 300;

type ListProps = Marking & {
  isPaged: boolean;
  isLoading: boolean;
  isCut: boolean;
  /** Whether its file is stored, so that it can be cut anew. */
  isStored: boolean;
};

export function ChunkList({ document, part, chunks, chosen, pointed, words, onPoint, onChoose, isPaged, isLoading, isCut, isStored }: ListProps) {
  const t = documents();
  const [isComparing, setComparing] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    reveal(list.current, ".is-chosen");
  }, [chosen, chunks.length]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...list.current!.querySelectorAll<HTMLButtonElement>(".chunk-main")];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    buttons[at + step]?.focus();
  };
  return (
    <section class="document-pane chunk-pane" aria-label={t.pane.chunks}>
      <header>
        <h2>{t.pane.chunks}</h2>
        {isStored && may("editor") && <Button kind="quiet" onClick={() => setComparing(true)}>{t.tryOther}</Button>}
      </header>
      {isLoading && <Skeleton />}
      {!isLoading && chunks.length === 0 && <p class="missing">{t.noChunks}</p>}
      <ol class="chunk-list" ref={list} onKeyDown={onKeyDown} onPointerLeave={() => onPoint(null)}>
        {chunks.map((chunk) => (
          <li key={chunk.id} class={`${chunk.id === chosen ? "is-chosen" : ""} ${chunk.id === pointed ? "is-pointed" : ""}`} onPointerEnter={() => onPoint(chunk.id)}>
            <button type="button" class="chunk-main" aria-pressed={chunk.id === chosen} onFocus={() => onPoint(chunk.id)} onBlur={() => onPoint(null)}
              onClick={() => onChoose(chunk.id === chosen ? null : chunk.id)}>
              <span class="chunk-facts"><strong>{t.chunk(chunk.ordinal + 1)}</strong> <span>{facts(chunk, isPaged)}</span></span>
              {chunk.headings.length > 0 && <span class="chunk-headings" dir="auto">{chunk.headings.join(" › ")}</span>}
              <span class="chunk-text" dir="auto"><MarkedWords text={chunk.content} words={words} /></span>
            </button>
            {chunk.id === chosen && <Actions documentId={document.id} chunk={chunk} />}
          </li>
        ))}
      </ol>
      {isCut && <p class="remark">{t.moreChunks}</p>}
      {isComparing && <OtherChunks document={document} part={part} chunks={chunks} onClose={() => setComparing(false)} />}
    </section>
  );
}

function facts(chunk: Chunk, isPaged: boolean): string {
  const t = documents();
  const where = isPaged && chunk.page !== null ? ` · ${t.onPages(chunk.page, chunk.pageEnd ?? chunk.page)}` : "";
  return t.tokens(chunk.tokenCount) + where;
}

function Actions({ documentId, chunk }: { documentId: string; chunk: Chunk }) {
  const t = documents();
  const copy = async () => {
    const link = new URL(href(`/documents/${documentId}`, { chunk: chunk.id }), globalThis.document.baseURI);
    if (await copyText(link.href)) toast(t.copied);
  };
  return (
    <div class="actions">
      <Button icon="copy" onClick={() => void copy()}>{t.copyCitation}</Button>
      <LinkButton icon="search" href={href("/search", { q: chunk.content.slice(0, QUESTION) })}>{t.searchAlike}</LinkButton>
      <Id value={chunk.id} />
    </div>
  );
}
