/** The stages of a run, and its attempts, from the log of its job. */

import type { Job, JobLog } from "@rag-ingest/client";

export const STAGES = ["fetch", "extract", "chunk", "embed", "store"] as const;
export type StageName = (typeof STAGES)[number];
export type StageState = "done" | "active" | "waiting" | "failed";

export interface StageStep {
  name: StageName;
  state: StageState;
  /** Milliseconds; undefined until it is done. */
  duration: number | undefined;
}

type Run = Pick<Job, "status" | "stage" | "attempts">;

/**
 * The steps of the latest attempt. `stage`: what live messages say, newer than the job's. Files are
 * not fetched.
 */
export function stepsOf(job: Run, logs: readonly JobLog[], { isFile, stage }: { isFile: boolean; stage?: string | null | undefined }): StageStep[] {
  const names = isFile ? STAGES.slice(1) : STAGES;
  const durations = new Map<string, number>();
  for (const line of logs) {
    if (line.attempt === job.attempts && line.stage !== null && line.durationMs !== null) {
      durations.set(line.stage, (durations.get(line.stage) ?? 0) + line.durationMs);
    }
  }
  const at = names.indexOf((stage ?? job.stage) as StageName);
  return names.map((name, i) => ({ name, state: stateOf(job, i, at), duration: durations.get(name) }));
}

function stateOf({ status }: Run, i: number, at: number): StageState {
  if (status === "completed") return "done";
  if (i < at) return "done";
  if (i > at || status === "pending") return "waiting";
  return status === "processing" ? "active" : status === "failed" ? "failed" : "waiting";
}

export interface Attempt {
  number: number;
  startedAt: string;
  endedAt: string;
  /** Of its stages, milliseconds. */
  duration: number;
  lines: JobLog[];
  /** The last warning or error. */
  problem: JobLog | undefined;
}

/** Newest first. */
export function attemptsOf(logs: readonly JobLog[]): Attempt[] {
  const byNumber = new Map<number, JobLog[]>();
  for (const line of logs) byNumber.set(line.attempt, [...(byNumber.get(line.attempt) ?? []), line]);
  return [...byNumber].sort(([a], [b]) => b - a).map(([number, lines]) => ({
    number,
    startedAt: lines[0]!.createdAt,
    endedAt: lines.at(-1)!.createdAt,
    duration: lines.reduce((sum, line) => sum + (line.durationMs ?? 0), 0),
    lines,
    problem: lines.findLast(({ level }) => level !== "info"),
  }));
}
