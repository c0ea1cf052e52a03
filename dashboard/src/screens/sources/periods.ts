/** "In the last 24 hours", as an address says it and the API takes it. */

export const PERIODS = ["hour", "day", "week", "month"] as const;
export type Period = (typeof PERIODS)[number];

const HOURS: Record<Period, number> = { hour: 1, day: 24, week: 24 * 7, month: 24 * 30 };

/** The beginning of a period that ends now. */
export function beginning(period: Period | undefined, now: number = Date.now()): string | undefined {
  return period && new Date(now - HOURS[period] * 3_600_000).toISOString();
}
