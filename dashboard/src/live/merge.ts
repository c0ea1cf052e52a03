/** What a list shows when it was read again: nothing moves under the reader's cursor. */

export interface Merged<T> {
  /** The shown rows, in their order, with new content. */
  rows: T[];
  /** New rows that are not shown yet. */
  fresh: number;
  /** Whether there may be more new rows than were read. */
  isMore: boolean;
}

/**
 * Merge a page that was read again into the rows that are shown.
 *
 * Rows that are no longer on the page stay: they have moved to the next one, or are gone, which the
 * reader learns with the next page.
 */
export function merge<T>(shown: readonly T[], read: readonly T[], keyOf: (row: T) => string): Merged<T> {
  const found = new Map(read.map((row) => [keyOf(row), row]));
  const rows = shown.map((row) => found.get(keyOf(row)) ?? row);
  const known = new Set(shown.map(keyOf));
  const fresh = read.filter((row) => !known.has(keyOf(row))).length;
  return { rows, fresh, isMore: fresh > 0 && fresh === read.length };
}
