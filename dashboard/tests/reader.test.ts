/** Reading again after failures that pass, and only after those. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, NetworkError } from "@rag-ingest/client";
import { Reader, type Held } from "../src/live/reader.ts";

/** A reader with a clock that the test turns on; each try gives the next of these, again and again the last. */
function reader(...answers: (string | Error)[]) {
  let held: Held<string> = { key: "a" };
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const tries: number[] = [];
  const clock = {
    now: () => now,
    after(milliseconds: number, run: () => void) {
      const timer = { at: now + milliseconds, run };
      timers.push(timer);
      return () => (timers = timers.filter((one) => one !== timer));
    },
  };
  const load = async () => {
    tries.push(now);
    const answer = answers[Math.min(tries.length, answers.length) - 1]!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  return {
    reader: new Reader<string>(() => ({ load, key: "a" }), (change) => (held = change(held)), clock),
    tries,
    settled,
    held: () => held,
    async pass(milliseconds: number) {
      const end = now + milliseconds;
      for (;;) {
        await settled();
        const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers = timers.filter((one) => one !== due);
        now = Math.max(now, due.at);
        due.run();
      }
      now = end;
    },
  };
}

const failure = (status: number, retryAfter?: number) =>
  new ApiError(status, { type: "about:blank", title: "", status, code: "not_ready", detail: null }, retryAfter);

test("a service that cannot answer yet is asked again until it does", async () => {
  const { reader: it, tries, held, pass } = reader(failure(503), failure(503), "ready");
  it.start();
  await pass(0);
  assert.ok(held().error instanceof ApiError);

  await pass(60_000);
  assert.deepEqual(tries, [0, 2000, 6000]);
  assert.deepEqual(held(), { key: "a", data: "ready" });
});

test("it is asked when it allows it, and ever more seldom", async () => {
  const { reader: it, tries, pass } = reader(failure(429, 30), failure(503));
  it.start();
  await pass(200_000);

  assert.deepEqual(tries, [0, 30_000, 34_000, 42_000, 58_000, 90_000, 150_000]);
});

test("what asking again does not mend is asked once", async () => {
  for (const error of [failure(404), failure(422), new NetworkError("away")]) {
    const { reader: it, tries, held, pass } = reader(error, "another answer");
    it.start();
    await pass(600_000);

    assert.deepEqual(tries, [0]);
    assert.equal(held().error, error);
  }
});

test("a reader that was stopped asks no more", async () => {
  const { reader: it, tries, pass } = reader(failure(503), "late");
  it.start();
  await pass(0);
  it.stop();
  await pass(600_000);

  assert.deepEqual(tries, [0]);
});
