/** The parts of an upload: they add up to its files. */

export type Tone = "good" | "bad" | "warning" | "active" | "waiting" | "neutral";

export interface Share {
  /** A verdict, or the state of an accepted file's source. */
  name: string;
  tone: Tone;
  count: number;
}

interface Counts {
  /** Of the cancelled; null: not counted. */
  deleted: number | null;
  unchanged: number;
  duplicate: number;
  rejected: number;
}

const STATES = [
  ["completed", "good"],
  ["partial", "warning"],
  ["review_needed", "warning"],
  ["processing", "active"],
  ["pending", "waiting"],
  ["cancelled", "neutral"],
  ["deleted", "neutral"],
  ["failed", "bad"],
] as const satisfies readonly (readonly [string, Tone])[];

/** Accepted files by state, then the others by verdict; parts without files are left out. */
export function sharesOf({ deleted, unchanged, duplicate, rejected }: Counts, states: Readonly<Record<string, number>>): Share[] {
  const gone = deleted ?? 0;
  const accepted: Readonly<Record<string, number>> = { ...states, cancelled: (states["cancelled"] ?? 0) - gone, deleted: gone };
  const shares: Share[] = [
    ...STATES.map(([name, tone]) => ({ name, tone, count: accepted[name] ?? 0 })),
    { name: "unchanged", tone: "neutral", count: unchanged },
    { name: "duplicate", tone: "neutral", count: duplicate },
    { name: "rejected", tone: "bad", count: rejected },
  ];
  return shares.filter(({ count }) => count > 0);
}
