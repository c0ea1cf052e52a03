import assert from "node:assert/strict";
import { test } from "node:test";
import { stack } from "../src/components/stack.ts";
import { errorAction, errorsLoaded, errorText, fieldText, reasonText, warningText } from "../src/messages/errors.ts";
import { bytes, duration, relative } from "../src/messages/format.ts";
import { language, plural } from "../src/messages/language.ts";

test("sizes have three digits at most and the unit of the language", () => {
  language.value = "en";
  assert.deepEqual([0, 999, 1000, 1250, 999_499, 999_500, 5e9].map(bytes), ["0\u00a0B", "999\u00a0B", "1 kB", "1.3 kB", "999 kB", "1 MB", "5 GB"]);
  language.value = "de";
  assert.equal(bytes(1250), "1,3 kB");
});

test("durations have the two largest units", () => {
  language.value = "en";
  assert.deepEqual(
    [850, 12_340, 59_960, 245_000, 3_600_000, 3_600_000 * 3.5, 86_400_000 * 3].map(duration),
    ["850 ms", "12.3 sec", "1 min", "4 min 5 sec", "1 hr", "3 hr 30 min", "3 days"],
  );
});

test("relative times round to the nearest unit", () => {
  language.value = "en";
  const now = Date.parse("2026-01-10T12:00:00Z");
  const say = (time: string): string => relative(new Date(time), now);
  assert.equal(say("2026-01-10T11:59:58Z"), "2 sec. ago");
  assert.equal(say("2026-01-10T11:57:00Z"), "3 min. ago");
  assert.equal(say("2026-01-10T11:00:05Z"), "1 hr. ago");
  assert.equal(say("2026-01-11T12:00:00Z"), "tomorrow");
  assert.equal(say("2025-12-01T12:00:00Z"), "last mo.");
});

test("plurals follow the rules of the language", () => {
  assert.equal(plural("en", 1, { one: "row", other: "rows" }), "row");
  assert.equal(plural("en", 0, { one: "row", other: "rows" }), "rows");
});

test("every code has a text, also one that is not ours", async () => {
  language.value = "en";
  await errorsLoaded;
  assert.equal(errorText("corrupt").means, "The file is damaged.");
  assert.equal(errorText("toString").means, errorText("unknown").means);
  assert.equal(errorAction("corrupt"), "upload");
  assert.equal(errorAction("constructor"), undefined);
});

test("warnings are sentences, also those of a step that failed; one that is not ours is its code", async () => {
  language.value = "en";
  await errorsLoaded;
  assert.equal(warningText("hidden_sheets"), "It has hidden sheets; they are searchable.");
  assert.match(warningText("reading_order_skipped"), /without it: reading order\.$/);
  assert.equal(warningText("of_mine"), "of mine");
  assert.equal(warningText("constructor"), "constructor");
});

test("a failure is told by the service in English, and by the page in another language", async () => {
  language.value = "en";
  await errorsLoaded;
  assert.equal(reasonText("corrupt", "page 2 is damaged"), "page 2 is damaged");
  assert.equal(reasonText("corrupt", null), "The file is damaged.");
  assert.equal(fieldText("missing", "Field required"), "Field required");
  language.value = "de";
  await errorsLoaded;
  assert.equal(reasonText("corrupt", "page 2 is damaged"), "Die Datei ist beschädigt.");
  assert.equal(fieldText("missing", "Field required"), "Das Feld fehlt. (Field required)");
  assert.equal(fieldText("value_error", "no URL"), "no URL");
  language.value = "en";
  await errorsLoaded;
});

test("stacked bars stand on each other and fit", () => {
  const [low, high] = stack([[1, 2], [1, 0]], 100, 10);

  assert.deepEqual(low!.map(([, y, , size]) => [y, size]), [[5, 5], [0, 10]]);
  assert.deepEqual(high!.map(([, y, , size]) => [y, size]), [[0, 5], [0, 0]]);
  assert.deepEqual(stack([], 100, 10), []);
});
