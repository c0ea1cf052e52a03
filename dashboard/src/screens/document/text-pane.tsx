/** The text of a page as it was extracted, with its Markdown shown; what is chosen is marked in it. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { api } from "../../app/session.ts";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import type { Chunk, Marking } from "./document.tsx";
import { pieces } from "./geometry.ts";
import { parseMarkdown, type Block, type Inline } from "./markdown.ts";
import { MarkedWords } from "./marked-words.tsx";
import { documents } from "./messages.ts";
import { reveal } from "./reveal.ts";

export function TextPane({ document, part, chunks, chosen, marked, words, onPoint, onChoose }: Marking & { marked: Chunk | null }) {
  const t = documents();
  const frame = useRef<HTMLDivElement>(null);
  const { start, end } = part;
  const text = useResource(async (signal) => {
    const answer = await api.get("/api/documents/{id}/text", { path: { id: document.id }, query: { start, end }, signal });
    return (answer as Response).text();
  }, [document.id, document.updatedAt, start, end]);
  const blocks = useMemo(() => parseMarkdown(text.data ?? ""), [text.data]);
  useEffect(() => {
    reveal(frame.current, "mark.passage");
  }, [chosen, text.data, chunks.length]);
  const chunkOf = (event: Event) => (event.target as Element).closest<HTMLElement>("[data-chunk]")?.dataset["chunk"] ?? null;
  const draw = new Drawing(start, chunks, marked, words);
  return (
    <section class="document-pane text-pane" aria-label={t.pane.text}>
      <header><h2>{t.pane.text}</h2></header>
      {text.error !== undefined && <ErrorCard error={text.error} onRetry={text.refresh} />}
      {text.isLoading && <Skeleton />}
      {text.data !== undefined && blocks.length === 0 && <p class="missing">{t.emptyPage}</p>}
      <div class="markdown" ref={frame} tabIndex={0} role="region" aria-label={t.pane.text} dir="auto" onPointerOver={(event) => onPoint(chunkOf(event))}
        onPointerLeave={() => onPoint(null)} onClick={(event) => { if (!(event.target as Element).closest("a")) onChoose(chunkOf(event)); }}>
        {blocks.map((block) => <Shown key={block.start} block={block} draw={draw} />)}
      </div>
    </section>
  );
}

/** Makes text into nodes: cut at chunks, with the marked one inside `<mark>`, and words of a search in it. */
class Drawing {
  constructor(
    /** Of the page in the document. */
    private readonly offset: number,
    private readonly chunks: readonly Chunk[],
    private readonly marked: Chunk | null,
    private readonly words: readonly string[],
  ) {}

  text(text: string, start: number): ComponentChildren {
    return pieces(text, this.offset + start, this.chunks, this.marked).map(({ text, start, chunkId, isMarked }) => {
      const props = { key: start, "data-chunk": chunkId ?? undefined };
      const content = <MarkedWords text={text} words={this.words} />;
      return isMarked ? <mark class="passage" {...props}>{content}</mark> : <span {...props}>{content}</span>;
    });
  }

  inline(nodes: readonly Inline[]): ComponentChildren {
    return nodes.map((node, index) => {
      switch (node.kind) {
        case "text": return this.text(node.text, node.start);
        case "code": return <code key={index}>{this.text(node.text, node.start)}</code>;
        case "strong": return <strong key={index}>{this.inline(node.children)}</strong>;
        case "em": return <em key={index}>{this.inline(node.children)}</em>;
        case "link": return <a key={index} href={node.href} rel="noopener noreferrer nofollow" target="_blank">{this.inline(node.children)}</a>;
      }
    });
  }
}

function Shown({ block, draw }: { block: Block; draw: Drawing }) {
  switch (block.kind) {
    // The screen's own headings are h1 and h2: those of the text are no part of its outline.
    case "heading": return <p class={`heading level-${block.level}`} dir="auto">{draw.inline(block.children)}</p>;
    case "paragraph": return <p dir="auto">{draw.inline(block.children)}</p>;
    case "quote": return <blockquote dir="auto">{draw.inline(block.children)}</blockquote>;
    case "item": return <p class={`item depth-${block.depth}`} dir="auto"><span class="item-mark">{/\d/.test(block.mark) ? block.mark : "•"}</span><span>{draw.inline(block.children)}</span></p>;
    case "code": return <pre tabIndex={0}><code>{draw.text(block.text, block.textStart)}</code></pre>;
    case "rule": return <hr />;
    case "table": return <Table block={block} draw={draw} />;
  }
}

function Table({ block: { rows, hasHeader }, draw }: { block: Block & { kind: "table" }; draw: Drawing }) {
  const [head, ...rest] = rows;
  const body = hasHeader ? rest : rows;
  return (
    <div class="table-scroll" tabIndex={0}>
      <table>
        {hasHeader && <thead><tr>{head!.map((cell, index) => <th key={index} scope="col" dir="auto">{draw.inline(cell)}</th>)}</tr></thead>}
        <tbody>{body.map((row, at) => <tr key={at}>{row.map((cell, index) => <td key={index} dir="auto">{draw.inline(cell)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}
