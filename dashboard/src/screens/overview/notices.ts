/** What holds work up, most urgent first. Nothing to say: no notice. */

import type { OverviewView } from "@rag-ingest/client";

export type Notice =
  | { kind: "paused" }
  | { kind: "no_worker"; silentSeconds: number | null }
  | { kind: "lane"; lane: OverviewView["lanes"][number] }
  | { kind: "types"; types: OverviewView["pausedTypes"] }
  | { kind: "budget"; perDay: number; renewsAt: string }
  | { kind: "quota"; quota: Quota; used: number; limit: number };

export const QUOTAS = ["sources", "storedBytes", "stagedBytes", "pendingJobs"] as const;
export type Quota = (typeof QUOTAS)[number];

/** From this share of a quota on there is a notice. */
const NEARLY_FULL = 0.9;

export function noticesOf(overview: OverviewView): Notice[] {
  const { usage, workers, lanes, pausedTypes } = overview;
  const notices: Notice[] = [];
  if (overview.isPaused) notices.push({ kind: "paused" });
  if (workers.alive === 0 && (overview.ready.count > 0 || overview.running.count > 0)) {
    notices.push({ kind: "no_worker", silentSeconds: workers.silentSeconds });
  }
  for (const lane of lanes) notices.push({ kind: "lane", lane });
  if (pausedTypes.length) notices.push({ kind: "types", types: pausedTypes });
  const waitsForBudget = overview.waiting.some(({ reason }) => reason === "budget_exceeded");
  const { used, perDay, renewsAt } = usage.tokens;
  if (perDay !== null && (waitsForBudget || used >= perDay)) notices.push({ kind: "budget", perDay, renewsAt });
  for (const quota of QUOTAS) {
    const { used, limit } = usage[quota];
    if (used >= limit * NEARLY_FULL) notices.push({ kind: "quota", quota, used, limit });
  }
  return notices;
}

/** Whether nothing was ever added: the first steps are shown. */
export function isNew({ usage, failed, reviewNeeded, running }: OverviewView): boolean {
  return usage.sources.used === 0 && usage.pendingJobs.used === 0 && failed.count === 0 && reviewNeeded.count === 0 && running.count === 0;
}
