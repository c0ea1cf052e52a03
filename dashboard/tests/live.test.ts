import assert from "node:assert/strict";
import { test } from "node:test";
import { apply } from "../src/live/live-source.ts";
import { merge } from "../src/live/merge.ts";
import { AtMostEvery, DirtyKeys, type Clock } from "../src/live/pace.ts";

class FakeClock implements Clock {
  time = 0;
  private due: { at: number; run: () => void }[] = [];
  now = (): number => this.time;
  after(milliseconds: number, run: () => void): () => void {
    const entry = { at: this.time + milliseconds, run };
    this.due.push(entry);
    return () => (this.due = this.due.filter((other) => other !== entry));
  }
  pass(milliseconds: number): void {
    this.time += milliseconds;
    const now = this.due.filter(({ at }) => at <= this.time);
    this.due = this.due.filter(({ at }) => at > this.time);
    for (const { run } of now) run();
  }
}

test("a thousand requests in a second are two runs", () => {
  const clock = new FakeClock();
  let runs = 0;
  const pace = new AtMostEvery(1000, () => (runs += 1), clock);
  for (let i = 0; i < 1000; i += 1) {
    pace.request();
    clock.pass(1);
  }
  assert.equal(runs, 2);
  clock.pass(5000);
  assert.equal(runs, 2);
  pace.request();
  assert.equal(runs, 3);
});

test("after stop nothing runs", () => {
  const clock = new FakeClock();
  let runs = 0;
  const pace = new AtMostEvery(1000, () => (runs += 1), clock);
  pace.request();
  pace.request();
  pace.stop();
  clock.pass(5000);
  assert.equal(runs, 1);
});

test("dirty keys are handed over together, once a frame", () => {
  const frames: (() => void)[] = [];
  const flushed: string[][] = [];
  const dirty = new DirtyKeys<string>((keys) => flushed.push([...keys]), (run) => frames.push(run));
  for (let i = 0; i < 500; i += 1) dirty.mark(`key ${i % 2}`);
  assert.equal(frames.length, 1);
  frames[0]!();
  dirty.mark("later");
  frames[1]!();

  assert.deepEqual(flushed, [["key 0", "key 1"], ["later"]]);
});

const row = (id: string, value = 0) => ({ id, value });

test("rows keep their place and get new content; new ones are counted, not shown", () => {
  const merged = merge([row("b"), row("a")], [row("d"), row("c"), row("b", 1)], ({ id }) => id);

  assert.deepEqual(merged, { rows: [row("b", 1), row("a")], fresh: 2, isMore: false });
});

test("a page of only new rows may have more before it", () => {
  assert.deepEqual(merge([row("a")], [row("c"), row("b")], ({ id }) => id), { rows: [row("a")], fresh: 2, isMore: true });
  assert.equal(merge([row("a")], [], ({ id }) => id).isMore, false);
});

test("a source's percentage stays while messages of its parts have none", () => {
  const before = apply(undefined, { type: "snapshot", status: "processing", percent: 40, chunkCount: 0 });
  const during = apply(before, { type: "job", status: "processing", percent: null, jobStatus: "completed" });
  assert.equal(during.percent, 40);
  assert.equal(during.status, "processing");

  const after = apply(during, { type: "done", status: "failed", percent: null, errorCode: "corrupt" });
  assert.equal(after.percent, null);
  assert.equal(after.errorCode, "corrupt");
});

test("an error message changes nothing", () => {
  const before = { status: "completed" } as const;
  assert.equal(apply(before, { type: "error", code: "not_found", status: "failed" }), before);
});
