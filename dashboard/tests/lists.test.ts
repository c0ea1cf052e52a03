import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMetadata, parseMetadata, WrongLine } from "../src/screens/bulk/metadata-lines.ts";
import { sharesOf } from "../src/screens/batches/shares.ts";
import { EventLog } from "../src/screens/sources/event-log.ts";
import { beginning } from "../src/screens/sources/periods.ts";
import { inWords } from "../src/screens/sources/schedule-words.ts";
import { attemptsOf, stepsOf } from "../src/screens/sources/stages.ts";

const event = (seq: number) => ({ seq, type: "job", at: undefined, data: {} });
const line = (attempt: number, stage: string | null, durationMs: number | null, level = "info") => ({
  attempt, level, stage, message: "", details: {}, durationMs, createdAt: "2026-01-01T00:00:00Z",
});

test("events are kept once, in order, and a gap names where to read on", () => {
  const log = new EventLog();
  assert.equal(log.gap(), undefined);
  for (const seq of [5, 3, 9, 5, 4]) log.add(event(seq));
  assert.deepEqual(log.newestFirst().map(({ seq }) => seq), [9, 5, 4, 3]);
  assert.deepEqual([log.gap(), log.before, log.lastSeq], [5, 2, 9]);
  for (const seq of [6, 7, 8]) log.add(event(seq));
  assert.equal(log.gap(), undefined);
});

test("metadata lines are read and written back", () => {
  const given = { team: "a=b", year: 2024, code: "007", old: null, list: ["x"], empty: "" };
  assert.deepEqual(parseMetadata("team=a=b\n year = 2024\ncode=\"007\"\n\nold="), { team: "a=b", year: 2024, code: "007", old: null });
  const { old: _, ...kept } = given;
  assert.deepEqual(parseMetadata(formatMetadata({ ...kept, quoted: "true" })), { ...kept, quoted: "true" });
  assert.throws(() => parseMetadata("no equals"), WrongLine);
  assert.throws(() => parseMetadata("=x"), WrongLine);
});

test("the parts of an upload add up to its files", () => {
  const shares = sharesOf({ deleted: 2, unchanged: 3, duplicate: 0, rejected: 2 }, { completed: 4, failed: 1, pending: 0, cancelled: 3 });
  assert.deepEqual(shares.map(({ name, count }) => [name, count]),
    [["completed", 4], ["cancelled", 1], ["deleted", 2], ["failed", 1], ["unchanged", 3], ["rejected", 2]]);
});

test("common schedules are said in words, others are left as they are", () => {
  assert.deepEqual(inWords("5 * * * *"), { kind: "hourly", minute: 5 });
  assert.deepEqual(inWords("0 6 * * *"), { kind: "daily", time: "06:00" });
  assert.deepEqual(inWords("30 18 * * MON-wed,7"), { kind: "weekly", time: "18:30", days: [0, 1, 2, 3] });
  assert.deepEqual(inWords("0 0 31 * *"), { kind: "monthly", time: "00:00", day: 31 });
  for (const cron of ["*/5 * * * *", "0 6 * 1 *", "0 6 1 * 1", "0 24 * * *", "0 6 * * 5-1", "@daily", "0 0 6 * * *"]) {
    assert.deepEqual(inWords(cron), { kind: "other" }, cron);
  }
});

test("stages are done up to the one that the job is in", () => {
  const logs = [line(1, "extract", 900), line(2, "extract", 10), line(2, "chunk", 5)];
  const job = { status: "processing", stage: "chunk", attempts: 2 } as const;
  const steps = stepsOf(job, logs, { isFile: true, stage: "embed" });
  assert.deepEqual(steps.map(({ name, state, duration }) => [name, state, duration]), [
    ["extract", "done", 10], ["chunk", "done", 5], ["embed", "active", undefined], ["store", "waiting", undefined],
  ]);
  const failed = stepsOf({ ...job, status: "failed" }, logs, { isFile: false });
  assert.deepEqual(failed.map(({ state }) => state), ["done", "done", "failed", "waiting", "waiting"]);
});

test("attempts come newest first, each with its last problem", () => {
  const attempts = attemptsOf([line(1, "extract", 10), line(1, null, null, "warning"), line(2, "extract", 20), line(2, "chunk", 5)]);
  assert.deepEqual(attempts.map(({ number, duration, problem }) => [number, duration, problem?.level]), [[2, 25, undefined], [1, 10, "warning"]]);
});

test("a period begins so many hours ago", () => {
  assert.equal(beginning("day", Date.UTC(2026, 0, 2)), "2026-01-01T00:00:00.000Z");
  assert.equal(beginning(undefined), undefined);
});
