import assert from "node:assert/strict";
import { test } from "node:test";
import { DAILY, fromCron, toCron, type Choice } from "../src/components/cron.ts";
import { isWanted, pathOf, patternProblem, patternsOf } from "../src/screens/crawl/patterns.ts";

test("what RE2 cannot do is refused while it is typed", () => {
  assert.equal(patternProblem("^/docs/(?!old)"), "lookaround");
  assert.equal(patternProblem("(?<=a)b"), "lookaround");
  assert.equal(patternProblem("(a)\\1"), "backreference");
  assert.equal(patternProblem("^/docs("), "invalid");
  assert.equal(patternProblem("a".repeat(501)), "tooLong");
  for (const good of ["^/docs/", "(?i)guide", "(?P<year>\\d{4})", "\\(\\?=", "a\\.b"]) {
    assert.equal(patternProblem(good), undefined, good);
  }
});

test("a page is wanted if an inclusion and no exclusion is found in its path", () => {
  assert.equal(isWanted("/docs/a", ["^/docs/"], []), true);
  assert.equal(isWanted("/blog/a", ["^/docs/"], []), false);
  assert.equal(isWanted("/docs/archive/a", ["^/docs/"], ["/archive/"]), false);
  assert.equal(isWanted("/GUIDE", ["(?i)guide"], []), true);
  assert.equal(isWanted("/anything", [], []), true);
  assert.equal(isWanted("/a", ["("], []), undefined);
});

test("patterns are lines, and paths may be pasted as addresses", () => {
  assert.deepEqual(patternsOf(" ^/a \n\n/b"), ["^/a", "/b"]);
  assert.equal(pathOf("docs/x"), "/docs/x");
});

test("choices become expressions and back", () => {
  const choices: Choice[] = [
    { ...DAILY, every: "hour", minute: 5 },
    { ...DAILY, hour: 23, minute: 59 },
    { ...DAILY, every: "week", weekday: 7 },
    { ...DAILY, every: "month", day: 31 },
  ];
  const compared = (choice: Choice | undefined) => choice && toCron(choice);
  assert.deepEqual(choices.map((choice) => compared(fromCron(toCron(choice)))), choices.map(toCron));
  assert.equal(fromCron("0 6 * * 0")?.weekday, 7);
});

test("other expressions are no choice", () => {
  for (const cron of ["*/5 * * * *", "0 6 * * 1-5", "0 6 1 * 1", "0 6 * 1 *", "0 0 6 * * *", "x"]) {
    assert.equal(fromCron(cron), undefined, cron);
  }
});
