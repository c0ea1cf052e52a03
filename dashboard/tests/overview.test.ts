import assert from "node:assert/strict";
import { test } from "node:test";
import type { Activity, OverviewView } from "@rag-ingest/client";
import { isNew, noticesOf } from "../src/screens/overview/notices.ts";
import { barsOf, tallest, total } from "../src/screens/overview/series.ts";
import { findingsOf, type Checks } from "../src/screens/settings/health.ts";

function item(start: string, outcome: Activity["outcome"], jobs: number): Activity {
  return { start, outcome, jobs, files: 0, pages: 0, tokens: jobs * 10, bytes: 0 };
}

const ACTIVITY = {
  from: "2026-01-01T00:00:00Z",
  to: "2026-01-01T00:05:00Z",
  stepSeconds: 60,
  items: [
    item("2026-01-01T00:01:00Z", "completed", 3),
    item("2026-01-01T00:01:00Z", "failed", 2),
    item("2026-01-01T00:04:00Z", "completed", 1),
    item("2026-01-01T00:05:00Z", "completed", 99), // after the end
  ],
};

test("every step has a bar, also where nothing ended", () => {
  const bars = barsOf(ACTIVITY, "jobs");
  assert.deepEqual(bars.values.completed, [0, 3, 0, 0, 1]);
  assert.deepEqual(bars.values.failed, [0, 2, 0, 0, 0]);
  assert.equal(bars.starts[4], Date.parse("2026-01-01T00:04:00Z"));
  assert.equal(tallest(bars), 5);
  assert.deepEqual(barsOf(ACTIVITY, "tokens").values.completed, [0, 30, 0, 0, 10]);
  assert.equal(total(ACTIVITY.items.slice(0, 3), "jobs", "completed"), 4);
  assert.equal(total(ACTIVITY.items.slice(0, 3), "jobs"), 6);
});

const none = { count: 0, isMore: false };
const quota = { used: 0, limit: 10 };
const IDLE: OverviewView = {
  ready: none, running: none, waiting: [], failed: none, failures: [], reviewNeeded: none, oldestReadySeconds: null,
  isPaused: false, pausedTypes: [], lanes: [], workers: { alive: 1, draining: 0, silentSeconds: 0 },
  usage: {
    storedBytes: quota, stagedBytes: quota, sources: quota, pendingJobs: quota, uploads: quota, sockets: quota, cpuSeconds: 0,
    tokens: { used: 0, usedThisMonth: 0, perDay: null, renewsAt: "2026-01-02T00:00:00Z" },
  },
};

test("an idle installation has nothing to say, and is new", () => {
  assert.deepEqual(noticesOf(IDLE), []);
  assert.ok(isNew(IDLE));
  assert.ok(!isNew({ ...IDLE, usage: { ...IDLE.usage, sources: { used: 1, limit: 10 } } }));
});

test("without a worker, only jobs that wait for one are news", () => {
  const workers = { alive: 0, draining: 0, silentSeconds: null };
  assert.deepEqual(noticesOf({ ...IDLE, workers }), []);
  assert.deepEqual(noticesOf({ ...IDLE, workers, ready: { count: 1, isMore: false } }), [{ kind: "no_worker", silentSeconds: null }]);
});

test("pauses, budgets and quotas are named, the widest first", () => {
  const lane = { lane: "openai/m", reason: "rate_limited", pausedUntil: null, failingSince: null, errorCode: null };
  const kinds = noticesOf({
    ...IDLE, isPaused: true, lanes: [lane], pausedTypes: [{ type: "file", isEnabled: true }],
    usage: { ...IDLE.usage, sources: { used: 9, limit: 10 }, tokens: { used: 5, usedThisMonth: 0, perDay: 5, renewsAt: "2026-01-02T00:00:00Z" } },
  }).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["paused", "lane", "types", "budget", "quota"]);
  assert.deepEqual(
    noticesOf({ ...IDLE, waiting: [{ reason: "budget_exceeded", count: 1, isMore: false }], usage: { ...IDLE.usage, tokens: { used: 4, usedThisMonth: 0, perDay: 5, renewsAt: "" } } }).map(({ kind }) => kind),
    ["budget"],
  );
});

const READY: Checks = { database: true, listener: true, workers: 2, sandbox: { mode: "auto", landlock: 4, seccomp: true } };

test("a ready service has a good finding for each check", () => {
  const findings = findingsOf(READY);
  assert.deepEqual(findings.map(({ check }) => check), ["database", "migrations", "workers", "provider", "disks", "listener", "parsers", "sandbox"]);
  assert.ok(findings.every(({ isGood }) => isGood));
});

test("each fault is found, and without a database nothing else is claimed", () => {
  const bad = (checks: Partial<Checks>): string[] => findingsOf({ ...READY, ...checks }).filter(({ isGood }) => !isGood).map(({ check }) => check);
  assert.deepEqual(bad({ workers: 0, paused: true }), ["paused", "workers"]);
  assert.deepEqual(bad({ provider: { code: "embedding_unauthorized", httpStatus: 401, message: "no", since: "2026-01-01T00:00:00Z" } }), ["provider"]);
  assert.deepEqual(bad({ lowDisks: ["files"], listener: false, missingParsers: [{ module: "lxml", formats: ["html"] }] }), ["disks", "listener", "parsers"]);
  assert.deepEqual(bad({ sandbox: { mode: "auto", landlock: null, seccomp: true } }), ["sandbox"]);
  assert.deepEqual(findingsOf({ database: false, listener: false }).map(({ check }) => check), ["database", "listener"]);
  assert.deepEqual(findingsOf({ database: true, pendingMigrations: 2, listener: true }).map(({ check }) => check), ["database", "migrations", "listener"]);
});
