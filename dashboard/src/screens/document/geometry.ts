/** Chunks at places: of a point of the page, and of a character of the text. */

/** Left, top, right, bottom in shares of the page. */
export type Box = readonly [number, number, number, number];

export interface PlacedChunk {
  chunkId: string;
  ordinal: number;
  boxes: readonly Box[];
}

interface TextRange {
  id: string;
  ordinal: number;
  charStart: number;
  charEnd: number;
}

/** Around a box, in shares of the page, a point still counts as inside. */
const NEAR = 0.004;

/** The chunk at a point of the page: of several, the one with the smallest box there. */
export function chunkAtPoint(places: readonly PlacedChunk[], x: number, y: number): string | null {
  let best: string | null = null;
  let least = Infinity;
  for (const { chunkId, boxes } of places) {
    for (const [left, top, right, bottom] of boxes) {
      const area = (right - left) * (bottom - top);
      const isInside = x >= left - NEAR && x <= right + NEAR && y >= top - NEAR && y <= bottom + NEAR;
      if (isInside && area < least) [best, least] = [chunkId, area];
    }
  }
  return best;
}

/** The chunk of a character. Chunks overlap a little: the one that began last has it. */
export function chunkAtCharacter(chunks: readonly TextRange[], at: number): string | null {
  let found: string | null = null;
  for (const { id, charStart, charEnd } of chunks) {
    if (charStart <= at && at < charEnd) found = id;
  }
  return found;
}

export interface Piece {
  text: string;
  start: number;
  chunkId: string | null;
  /** Whether the marked range has it. */
  isMarked: boolean;
}

/** A text cut where a chunk begins or ends, and where the marked range does. `start`: its place in the document. */
export function pieces(text: string, start: number, chunks: readonly TextRange[], marked: { charStart: number; charEnd: number } | null): Piece[] {
  const end = start + text.length;
  const cuts = new Set([start, end]);
  for (const range of marked ? [...chunks, marked] : chunks) {
    for (const place of [range.charStart, range.charEnd]) if (start < place && place < end) cuts.add(place);
  }
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((from, index) => ({
    text: text.slice(from - start, sorted[index + 1]! - start),
    start: from,
    chunkId: chunkAtCharacter(chunks, from),
    isMarked: marked !== null && marked.charStart <= from && from < marked.charEnd,
  }));
}

/** The page on which a character is: the last one that begins before it. */
export function pageOfCharacter(pages: readonly { number: number; start: number }[], at: number): number {
  let [low, high] = [0, pages.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pages[middle]!.start <= at) low = middle;
    else high = middle - 1;
  }
  return pages[low]?.number ?? 1;
}
