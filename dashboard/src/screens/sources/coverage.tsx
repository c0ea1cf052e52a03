/** How much of a file became text: a strip of its pages. */

import type { Coverage } from "@rag-ingest/client";
import { ShareBar } from "../../components/charts.tsx";
import { number } from "../../messages/format.ts";
import { sources } from "./messages.ts";

export function CoverageStrip({ coverage }: { coverage: Coverage }) {
  const words = sources().coverageParts;
  const { withText, byOcr, empty, unread, failed, lost } = coverage;
  const parts = [
    [words.text(withText - byOcr, number(withText - byOcr)), "good", withText - byOcr],
    [words.ocr(byOcr, number(byOcr)), "active", byOcr],
    [words.empty(empty, number(empty)), "neutral", empty],
    [words.unread(unread, number(unread)), "warning", unread],
    [words.failed(failed, number(failed)), "bad", failed],
  ] as const;
  const seen = parts.filter(([, , count]) => count > 0);
  return (
    <div class="coverage">
      <ShareBar parts={parts} label={seen.map(([name]) => name).join(", ")} />
      <ul class="legends">
        {seen.map(([name, tone]) => <li key={name} class={`legend ${tone}`}>{name}</li>)}
      </ul>
      {lost.length > 0 && <p class="hint">{sources().lost(ranges(lost))}</p>}
    </div>
  );
}

/** `1–3, 7` of `[1, 2, 3, 7]`. */
export function ranges(pages: readonly number[]): string {
  const found: [number, number][] = [];
  for (const page of pages) {
    const last = found.at(-1);
    if (last && page === last[1] + 1) last[1] = page;
    else found.push([page, page]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}
