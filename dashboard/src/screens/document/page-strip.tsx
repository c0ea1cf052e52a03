/** All pages in a row, coloured by how each was read; only those in sight are in the document. */

import { useEffect, useRef, useState } from "preact/hooks";
import { documents } from "./messages.ts";
import type { Part } from "./parts.ts";

/** CSS pixels of a page, also in document.css. */
const WIDTH = 36;
/** Pages beyond each edge. */
const MARGIN = 12;
const SIGNS: Record<string, string> = { ocr: "○", empty: "–", unread: "!", failed: "!", lost: "!" };

export function PageStrip({ parts, current, onGo }: { parts: readonly Part[]; current: number; onGo: (page: number) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const [[first, last], setSight] = useState([0, 60]);
  const look = () => {
    const { scrollLeft, clientWidth } = frame.current!;
    const start = Math.floor(Math.abs(scrollLeft) / WIDTH);
    setSight([Math.max(0, start - MARGIN), start + Math.ceil(clientWidth / WIDTH) + MARGIN]);
  };
  useEffect(() => {
    const { current: box } = frame;
    if (!box) return;
    const [from, to] = [(current - 1) * WIDTH, current * WIDTH];
    if (from < box.scrollLeft || to > box.scrollLeft + box.clientWidth) box.scrollLeft = from - box.clientWidth / 2;
    look();
  }, [current, parts.length]);
  if (parts.length < 2 || parts[0]!.state === null) return null;
  return (
    <nav class="page-strip" aria-label={documents().strip} ref={frame} onScroll={look} tabIndex={-1}>
      <ol ref={(list) => { if (list) list.style.inlineSize = `${parts.length * WIDTH}px`; }}>
        {parts.slice(first, last).map((part) => <Cell key={part.number} part={part} isCurrent={part.number === current} onGo={onGo} />)}
      </ol>
    </nav>
  );
}

function Cell({ part: { number, state }, isCurrent, onGo }: { part: Part; isCurrent: boolean; onGo: (page: number) => void }) {
  const label = documents().stripPage(number, documents().states[state ?? "text"] ?? "");
  return (
    <li ref={(item) => { if (item) item.style.insetInlineStart = `${(number - 1) * WIDTH}px`; }}>
      <button type="button" class={`page-cell ${state}`} aria-label={label} title={label} aria-current={isCurrent ? "page" : undefined} onClick={() => onGo(number)}>
        <span>{number}</span><i aria-hidden="true">{SIGNS[state ?? ""] ?? ""}</i>
      </button>
    </li>
  );
}
