import type { Pages } from "@rag-ingest/client";
import { setQuery } from "../../app/router.ts";
import { Button, IconButton } from "../../components/button.tsx";
import type { Pane } from "./document.tsx";
import { documents } from "./messages.ts";
import type { Part } from "./parts.ts";

interface ToolbarProps {
  parts: readonly Part[];
  current: number;
  pages: Pages;
  pane: Pane;
  /** The page of the chosen chunk. */
  home: number | null;
  onGo: (page: number) => void;
}

/** Leafs through the pages; on narrow screens, also chooses the pane. */
export function Toolbar({ parts, current, pages, pane, home, onGo }: ToolbarProps) {
  const t = documents();
  const panes = (pages.images === "available" ? ["page", "text", "chunks"] : ["text", "chunks"]) as readonly Pane[];
  const onInput = (event: Event & { currentTarget: HTMLInputElement }) => {
    const page = event.currentTarget.valueAsNumber;
    if (page >= 1 && page <= parts.length) onGo(page);
  };
  return (
    <div class="document-toolbar">
      {parts.length > 1 && (
        <div class="document-leaf">
          <IconButton icon="chevronStart" label={t.previous} disabled={current <= 1} onClick={() => onGo(current - 1)} />
          <input type="number" min={1} max={parts.length} value={current} aria-label={t.goTo} onChange={onInput} />
          <span aria-live="polite">{parts[0]!.state === null ? t.partOf(current, parts.length) : t.pageOf(current, parts.length)}</span>
          <IconButton icon="chevronEnd" label={t.next} disabled={current >= parts.length} onClick={() => onGo(current + 1)} />
          {home !== null && home !== current && <Button kind="quiet" icon="retry" onClick={() => setQuery({ page: undefined }, { replace: true })}>{t.toChunk}</Button>}
        </div>
      )}
      <div class="document-switch" role="group" aria-label={t.panes}>
        {panes.map((name) => (
          <button key={name} type="button" class="button quiet" aria-pressed={pane === name} onClick={() => setQuery({ pane: name }, { replace: true })}>{t.pane[name]}</button>
        ))}
      </div>
    </div>
  );
}
