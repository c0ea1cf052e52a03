/** How a ranking differs from another. */

export type Move =
  | { kind: "same" }
  /** By so many places; above 0 is up. */
  | { kind: "moved"; by: number; before: number }
  | { kind: "new" };

interface Ranked {
  chunkId: string;
  duplicates: readonly { chunkId: string }[];
}

/**
 * The move of each hit against the ranking before. A hit stands for its duplicates: that another of
 * them is shown is no move.
 */
export function movesOf(hits: readonly Ranked[], before: readonly Ranked[]): Map<string, Move> {
  const places = new Map<string, number>();
  before.forEach((hit, at) => idsOf(hit).forEach((id) => places.has(id) || places.set(id, at + 1)));
  return new Map(
    hits.map((hit, at): [string, Move] => {
      const place = idsOf(hit).map((id) => places.get(id)).find((found) => found !== undefined);
      if (place === undefined) return [hit.chunkId, { kind: "new" }];
      const by = place - (at + 1);
      return [hit.chunkId, by === 0 ? { kind: "same" } : { kind: "moved", by, before: place }];
    }),
  );
}

/** How many hits of the ranking before are gone. */
export function goneFrom(before: readonly Ranked[], hits: readonly Ranked[]): number {
  const shown = new Set(hits.flatMap(idsOf));
  return before.filter((hit) => !idsOf(hit).some((id) => shown.has(id))).length;
}

function idsOf(hit: Ranked): string[] {
  return [hit.chunkId, ...hit.duplicates.map(({ chunkId }) => chunkId)];
}
