import assert from "node:assert/strict";
import { test } from "node:test";
import { arrived, integer, match, oneOf, parseHash, setQuery, text } from "../src/app/router.ts";

test("a hash has a path and parameters", () => {
  const { path, query } = parseHash("#/sources?status=failed&q=a%26b");

  assert.equal(path, "/sources");
  assert.deepEqual([...query], [["status", "failed"], ["q", "a&b"]]);
});

test("a hash that is no address is the start", () => {
  for (const hash of ["", "#", "#main", "#login=abc"]) assert.equal(parseHash(hash).path, "/");
});

test("a pattern gives the parameters of a path", () => {
  assert.deepEqual(match("/sources/:id", "/sources/a%2Fb"), { id: "a/b" });
  assert.deepEqual(match("/sources", "/sources"), {});
  assert.equal(match("/sources/:id", "/sources"), null);
  assert.equal(match("/sources/:id", "/sources/"), null);
  assert.equal(match("/sources/:id", "/sources/1/pages"), null);
  assert.equal(match("/sources/:id", "/sources/%E0%A4%A"), null);
});

test("parameters that are not valid are as good as missing", () => {
  assert.equal(oneOf(["a", "b"])("c"), undefined);
  assert.equal(oneOf(["a", "b"])("b"), "b");
  assert.equal(integer("12"), 12);
  assert.equal(integer("1e9"), undefined);
  assert.equal(text(""), undefined);
});

test("a screen that is being left changes no address", () => {
  const location = { hash: "#/sources/1?tab=jobs" };
  Object.assign(globalThis, { location });
  arrived("/sources/1");
  setQuery({ tab: "events", cursor: undefined });
  assert.equal(location.hash, "#/sources/1?tab=events");

  // A link was followed; its screen is not there yet, and the old one still answers a click or a timer.
  location.hash = "#/sites/1?status=failed";
  setQuery({ tab: "events" });
  assert.equal(location.hash, "#/sites/1?status=failed");

  arrived("/sites/1");
  setQuery({ status: undefined });
  assert.equal(location.hash, "#/sites/1");
});
