/** What a document is leafed through by: its pages, or parts of a text that has none. */

import type { Pages } from "@rag-ingest/client";

export interface Part {
  number: number;
  start: number;
  end: number;
  /** Of a page; null for a part of a text without pages. */
  state: string | null;
}

/** Characters of a part of a text without pages. */
const LONG = 20_000;

export function partsOf(pages: Pages): Part[] {
  if (pages.items.length > 0) return pages.items;
  const count = Math.max(1, Math.ceil(pages.characters / LONG));
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    start: index * LONG,
    end: Math.min(pages.characters, (index + 1) * LONG),
    state: null,
  }));
}
