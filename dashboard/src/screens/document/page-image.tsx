/** The picture of a page, with the places of its chunks on it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { IconButton } from "../../components/button.tsx";
import { ErrorCard } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { percent } from "../../messages/format.ts";
import type { Marking } from "./document.tsx";
import { chunkAtPoint, type PlacedChunk } from "./geometry.ts";
import { documents } from "./messages.ts";
import { reveal } from "./reveal.ts";

const ZOOMS = [50, 75, 100, 150, 200, 300];

export function PageImage({ document, part, chosen, pointed, onPoint, onChoose }: Marking) {
  const t = documents();
  const [zoom, setZoom] = useState(100);
  const path = { id: document.id, page: part.number };
  const width = zoom > 100 ? 2560 : 1280;
  const image = useResource((signal) => pictures.get(path, width, document.updatedAt, signal), [path, width, document.updatedAt]);
  const places = useResource(
    (signal) => api.get("/api/documents/{id}/pages/{page}/places", { path, signal }),
    [path, document.updatedAt],
  );
  const frame = useRef<HTMLDivElement>(null);
  const marked = pointed ?? chosen;
  const placed: readonly PlacedChunk[] = places.data?.places ?? [];
  const found = placed.find(({ chunkId }) => chunkId === marked);
  useEffect(() => {
    // What was chosen elsewhere comes into sight; what is only pointed at does not move the page.
    reveal(frame.current, "rect.is-marked");
  }, [chosen, places.data, image.data]);
  const at = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return chunkAtPoint(placed, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  };
  const step = ZOOMS.indexOf(zoom);
  return (
    <section class="document-pane page-pane" aria-label={t.pane.page}>
      <header>
        <h2>{t.pane.page}</h2>
        <span class="actions">
          <IconButton icon="minus" label={t.zoomOut} disabled={step === 0} onClick={() => setZoom(ZOOMS[step - 1]!)} />
          <span class="zoom" aria-live="polite" title={t.zoom(percent(zoom))}>{percent(zoom)}</span>
          <IconButton icon="plus" label={t.zoomIn} disabled={step === ZOOMS.length - 1} onClick={() => setZoom(ZOOMS[step + 1]!)} />
        </span>
      </header>
      {image.error !== undefined && <ErrorCard error={image.error} onRetry={image.refresh} />}
      {places.error !== undefined && image.error === undefined && <ErrorCard error={places.error} onRetry={places.refresh} />}
      {places.data?.source === "none" && part.end > part.start && <p class="remark">{t.noPlaces}</p>}
      {places.data && places.data.source !== "none" && found?.boxes.length === 0 && <p class="remark">{t.notOnPage}</p>}
      <div class="page-frame" ref={frame} tabIndex={0} role="region" aria-label={t.image(part.number, document.title ?? document.uri)}>
        <div class="page-sheet" ref={(sheet) => { if (sheet) sheet.style.inlineSize = `${zoom}%`; }} aria-busy={image.isLoading}>
          {image.data && <img src={image.data} alt="" draggable={false} />}
          {image.data && (
            <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true" onPointerMove={(event) => onPoint(at(event))}
              onPointerLeave={() => onPoint(null)} onClick={(event) => onChoose(at(event))}>
              {placed.flatMap(({ chunkId, boxes }) => boxes.map(([left, top, right, bottom], index) => (
                <rect key={`${chunkId} ${index}`} data-chunk={chunkId} class={chunkId === marked ? "is-marked" : chunkId === chosen ? "is-chosen" : ""}
                  x={left} y={top} width={right - left} height={bottom - top} />
              )))}
            </svg>
          )}
          {image.isLoading && <div class="page-wait skeleton" role="status" aria-label={t.image(part.number, "…")} />}
        </div>
      </div>
    </section>
  );
}

/** Pictures as object URLs: `<img>` cannot name the operator's application. The last ones are kept. */
class Pictures {
  private readonly kept = new Map<string, string>();
  private static readonly MOST = 12;

  async get(path: { id: string; page: number }, width: number, version: string, signal: AbortSignal): Promise<string> {
    const key = JSON.stringify([path, width, version]);
    const known = this.kept.get(key);
    this.kept.delete(key);
    const url = known ?? URL.createObjectURL(await this.load(path, width, signal));
    this.kept.set(key, url);
    for (const [oldest, old] of this.kept) {
      if (this.kept.size <= Pictures.MOST) break;
      this.kept.delete(oldest);
      URL.revokeObjectURL(old);
    }
    return url;
  }

  private async load(path: { id: string; page: number }, width: number, signal: AbortSignal): Promise<Blob> {
    const answer = await api.get("/api/documents/{id}/pages/{page}.png", { path, query: { width }, signal });
    return (answer as Response).blob();
  }
}

const pictures = new Pictures();
