import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_OPTIONS, readMetadata, readOptions } from "../../src/screens/upload/options.ts";

test("metadata are lines of key=value or a JSON object", () => {
  assert.deepEqual(readMetadata("team = a\nurl=x=y"), { team: "a", url: "x=y" });
  assert.deepEqual(readMetadata(' {"year": 2026} '), { year: 2026 });
  assert.equal(readMetadata(""), undefined);
  assert.equal(readMetadata("[1]"), "notObject");
  assert.equal(readMetadata("{"), "notJson");
  assert.equal(readMetadata("team"), "notJson");
});

test("fields that are left empty are not sent", () => {
  assert.deepEqual(readOptions(NO_OPTIONS), {
    options: { metadata: undefined, collectionId: undefined, priority: 0, onConflict: "update", chunking: undefined },
  });
});

test("chunking is sent as a whole once one of its fields is filled in", () => {
  const read = readOptions({ ...NO_OPTIONS, size: "256" });
  assert.ok("options" in read);
  assert.deepEqual(read.options.chunking, { size: 256, overlap: null, by: null });
});

test("each wrong field is named", () => {
  assert.deepEqual(readOptions({ ...NO_OPTIONS, priority: "101", size: "1.5", metadata: "{" }), {
    problems: { priority: "outOfRange", size: "notWhole", metadata: "notJson" },
  });
});
