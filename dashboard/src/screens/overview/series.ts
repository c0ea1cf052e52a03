/** From ended attempts to the bars of a chart. */

import type { Activity, ActivityView } from "@rag-ingest/client";

export const MEASURES = ["jobs", "files", "pages", "tokens", "bytes"] as const;
export type Measure = (typeof MEASURES)[number];

/** Bottom to top: what went well carries the rest. */
export const OUTCOMES = ["completed", "review_needed", "retry", "failed"] as const;
export type Outcome = Activity["outcome"];

export const RANGES = { "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 } as const;
export type Range = keyof typeof RANGES;
/** Seconds. */
export const STEPS: Readonly<Record<Range, number>> = { "1h": 60, "24h": 900, "7d": 3 * 3600 };

export interface Bars {
  /** When each step begins, in milliseconds. */
  starts: number[];
  values: Record<Outcome, number[]>;
}

/** A value for every step, also for those in which nothing ended. */
export function barsOf(view: ActivityView, measure: Measure): Bars {
  const step = view.stepSeconds * 1000;
  const first = Date.parse(view.from);
  const count = Math.max(1, Math.ceil((Date.parse(view.to) - first) / step));
  const values = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, new Array<number>(count).fill(0)])) as Bars["values"];
  for (const item of view.items) {
    const at = Math.floor((Date.parse(item.start) - first) / step);
    if (at >= 0 && at < count) values[item.outcome][at]! += item[measure];
  }
  return { starts: Array.from({ length: count }, (_, i) => first + i * step), values };
}

/** The sum of a measure; of one outcome, or of all. */
export function total(items: readonly Activity[], measure: Measure, outcome?: Outcome): number {
  return items.reduce((sum, item) => (outcome === undefined || item.outcome === outcome ? sum + item[measure] : sum), 0);
}

/** The height of the tallest bar. */
export function tallest(bars: Bars): number {
  return Math.max(0, ...bars.starts.map((_, i) => OUTCOMES.reduce((sum, outcome) => sum + bars.values[outcome][i]!, 0)));
}
