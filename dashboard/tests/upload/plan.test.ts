import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_BYTES, MOST_FILES, PartPlanner } from "../../src/screens/upload/plan.ts";

function parts(sizes: readonly number[]): number[][] {
  const planner = new PartPlanner<{ size: number }>();
  const full = sizes.flatMap((size) => planner.add({ size }));
  if (!planner.isEmpty) full.push(planner.flush());
  assert.ok(planner.isEmpty);
  return full.map((part) => part.map(({ size }) => size));
}

test("small files are put together up to the most files of a part", () => {
  const sizes = new Array<number>(2 * MOST_FILES + 1).fill(10);
  assert.deepEqual(parts(sizes).map((part) => part.length), [MOST_FILES, MOST_FILES, 1]);
});

test("a part is not larger than its limit unless one file is", () => {
  const half = MOST_BYTES / 2;
  assert.deepEqual(parts([half, half, half]), [[half, half], [half]]);
  assert.deepEqual(parts([1, MOST_BYTES, 1]), [[1], [MOST_BYTES], [1]]);
  assert.deepEqual(parts([1, 3 * MOST_BYTES, 1]), [[1], [3 * MOST_BYTES], [1]]);
});

test("each file is in one part, in order", () => {
  const sizes = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 700_000);
  assert.deepEqual(parts(sizes).flat(), sizes);
});
