import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import type { EvaluationView, Judgement, Mean, SearchHit } from "@rag-ingest/client";
import { readQuery, setQuery } from "../src/app/router.ts";
import { isAbout, toConditions, toWhere } from "../src/screens/search/conditions.ts";
import { codeOf } from "../src/screens/search/copy-as.ts";
import { judgementOf } from "../src/screens/search/judged.ts";
import { excerptStart, mark, telling } from "../src/screens/search/marking.ts";
import { measuresOf, rowsOf, verdictOf } from "../src/screens/search/measures.ts";
import { goneFrom, movesOf } from "../src/screens/search/moves.ts";
import { asQuery, filterOf, howOf, requestOf, SEARCH, whatOf } from "../src/screens/search/settings.ts";

const marked = (content: string, terms: string[], grams: string[] = []) =>
  mark(content, terms, grams).map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join("");

test("words are marked in whatever form, and nothing is lost", () => {
  assert.equal(marked("Oils of the Policies, boil", ["oil", "policy"]), "[Oils] of the [Policies], boil");
  assert.equal(marked("東京大学は", ["大", "学"]), "東京[大学]は");
  assert.equal(marked("CVE-2024-12345!", ["12345"]), "CVE-2024-[12345]!");
  assert.equal(marked("<b>oil</b>", ["oil"]), "<b>[oil]</b>");
  assert.equal(marked("", ["oil"]), "");
  assert.equal(marked("no such word", []), "no such word");
});

test("compounds are marked by the runs of letters that found them", () => {
  assert.equal(marked("Die Sonderkündigung läuft", ["kündigungen"], ["kund", "undi"]), "Die [Sonderkündigung] läuft");
});

test("words that say little are not marked beside those that say much", () => {
  const word = (word: string, weight: number | null) => ({ word, weight });
  assert.deepEqual(telling(["the", "Oils"], [word("the", 0.3), word("oils", 5.2)]), ["Oils"]);
  assert.deepEqual(telling(["the", "of"], [word("the", 0.3), word("of", 0.2)]), ["the", "of"]);
  assert.deepEqual(telling(["the", "oil"], [word("the", null), word("oil", null)]), ["the", "oil"]);
  assert.deepEqual(telling(["oil"], []), ["oil"]);
});

test("an excerpt begins with the sentence or line of the rarest word", () => {
  const long = "Some other words. ".repeat(20);
  const begun = (text: string, word?: string) => text.slice(excerptStart(text, word));

  assert.equal(begun(`${long}The herons eat. More`, "heron"), "The herons eat. More");
  assert.equal(begun(`${long}\nherons eat`, "heron"), "herons eat");
  assert.equal(begun(`${"x ".repeat(300)}heron`, "heron"), "heron");
  assert.equal(excerptStart(`heron ${long}`, "heron"), 0);
  assert.equal(excerptStart(long, "heron"), 0);
  assert.equal(excerptStart(long, undefined), 0);
});

test("neighbouring segments are joined", () => {
  assert.deepEqual(mark("大学", ["大", "学"]), [{ text: "大学", isMatch: true }]);
});

test("a request has only what is not as usual", () => {
  assert.deepEqual(requestOf({ q: "oil" }, howOf({}, "first")), { query: "oil" });
  const how = howOf({ mode: "keyword", vector: 0.5, rerank: "off", minBm25: 1, perDocument: 2, diversity: 0.3 }, "first");
  assert.deepEqual(requestOf({ q: "oil", limit: 5 }, how), {
    query: "oil", limit: 5, mode: "keyword", minScore: { bm25: 1 }, rerank: false, perDocument: 2, diversity: 0.3,
  });
});

test("the address holds both columns", () => {
  (globalThis as { location?: unknown }).location ??= { hash: "" };
  (globalThis as { history?: unknown }).history ??= { replaceState: () => undefined };
  const second = howOf({ mode: "vector", collapse: "off", minCosine: -0.25 }, "first");
  setQuery({ q: "a&b", vector: 0.5, ...asQuery(second, "second") }, { replace: true });

  const values = readQuery(SEARCH);

  assert.deepEqual(howOf(values, "second"), second);
  assert.equal(howOf(values, "first").vector, 0.5);
  assert.equal(values.q, "a&b");
});

test("a filter has what is filled in; broken JSON is left to the service to refuse", () => {
  assert.equal(filterOf({ where: "", collections: "", sources: undefined }), undefined);
  assert.deepEqual(filterOf({ where: '{"uri":"x"}', collections: "a, b c" }), { where: { uri: "x" }, collectionIds: ["a", "b", "c"] });
  assert.deepEqual(filterOf({ where: "{" }), { where: "{" });
});

test("rows of a form become a filter and come back", () => {
  const where = { "metadata.year": { gte: 2024, lt: 2026 }, uri: { glob: "docs/**" }, title: { eq: "12" }, type: { in: ["file", "url"] }, "metadata.x": { exists: true }, language: { nin: ["a,b", "5"] } };
  const rows = toConditions(JSON.stringify(where))!;

  assert.deepEqual(rows[0], { field: "metadata.year", operator: "gte", value: "2024" });
  assert.deepEqual(rows[4], { field: "type", operator: "in", value: "file, url" });
  assert.deepEqual(JSON.parse(toWhere(rows)!), where);
  assert.deepEqual(toConditions('{"uri": "x"}'), [{ field: "uri", operator: "eq", value: "x" }]);
  assert.equal(toWhere([{ field: " ", operator: "eq", value: "x" }]), undefined);
});

test("what rows cannot say is left as JSON", () => {
  for (const where of ['{"or": []}', '{"not": {"uri": "x"}}', "[]", "{", '{"uri": {"like": 1}}', '{"metadata.a": {"eq": {"b": 1}}}']) assert.equal(toConditions(where), null);
});

test("an error of the service is about its row", () => {
  const row = { field: "metadata.year", operator: "gte", value: "x" } as const;
  assert.ok(isAbout(row, "body.filter.where.metadata.year"));
  assert.ok(isAbout(row, "body.filter.where.metadata.year.gte"));
  assert.ok(!isAbout(row, "body.filter.where.metadata.years"));
  assert.ok(!isAbout(row, "body.filter.where.metadata.year.lt"));
});

const HOSTILE = { query: `it's "$HOME" \`id\` \\ \n ${"\u2028"} 😀 {x} 京`, rerank: false, perDocument: null, limit: 3 };

test("code for the shell sends the request as it is", () => {
  const code = codeOf("curl", "http://host/rag/", HOSTILE);
  const printed = execFileSync("sh", ["-c", code.replace(/^curl/, "printf '%s\\0'")], { env: { INGEST_API_KEY: "k" }, encoding: "utf8" });
  const [url, , authorization, , , , body] = printed.split("\0");

  assert.equal(url, "http://host/rag/api/search");
  assert.equal(authorization, "Authorization: Bearer k");
  assert.deepEqual(JSON.parse(body!), HOSTILE);
});

test("code for Python has the request as a value", () => {
  const code = codeOf("python", "http://host/", HOSTILE);
  const value = /json=([^]*),\n\)/.exec(code)![1]!;
  const printed = execFileSync("python3", ["-c", `import json; print(json.dumps(${value}))`], { encoding: "utf8" });

  assert.deepEqual(JSON.parse(printed), HOSTILE);
});

test("code for TypeScript has the request as a value", () => {
  const code = codeOf("typescript", "http://host/", HOSTILE);
  const value = /body: ([^]*),\n\}\);/.exec(code)![1]!;

  assert.deepEqual(new Function(`return ${value}`)(), HOSTILE);
});

const hit = (chunkId: string, ...others: string[]) => ({ chunkId, duplicates: others.map((id) => ({ chunkId: id })) });

test("moves are told against the other ranking", () => {
  const before = [hit("a"), hit("b", "b2"), hit("c")];
  const after = [hit("c"), hit("b2"), hit("new"), hit("a3", "a")];

  assert.deepEqual([...movesOf(after, before)], [
    ["c", { kind: "moved", by: 2, before: 3 }],
    ["b2", { kind: "same" }],
    ["new", { kind: "new" }],
    ["a3", { kind: "moved", by: -3, before: 1 }],
  ]);
  assert.equal(goneFrom(before, after), 0);
  assert.equal(goneFrom(before, after.slice(0, 3)), 1);
});

test("a judgement is found by document, words and filter", () => {
  const judged = { documentId: "d", quote: "Oil IS changed", filter: { where: { uri: "x" }, collectionIds: ["c"] } } as unknown as Judgement;
  const found = { documentId: "d", content: "The oil **is** changed." } as unknown as SearchHit;

  assert.equal(judgementOf(found, { collectionIds: ["c"], where: { uri: "x" } }, [judged]), judged);
  assert.equal(judgementOf(found, undefined, [judged]), undefined);
  assert.equal(judgementOf({ ...found, documentId: "e" }, { collectionIds: ["c"], where: { uri: "x" } }, [judged]), undefined);
  assert.equal(judgementOf({ ...found, content: "oil" }, { collectionIds: ["c"], where: { uri: "x" } }, [judged]), undefined);
});

const mean = (mean: number, low: number, high: number): Mean => ({ mean, low, high });

/** An evaluation of these values of nDCG@10, by question and run. */
function evaluated(...values: number[][]): EvaluationView {
  const names = ["mrr", "recall@20", "ndcg@10", "recall@5"];
  return {
    questionCount: values.length, asked: values.length, stoppedBy: null,
    runs: values[0]!.map(() => ({ degraded: 0, measures: Object.fromEntries(names.map((name) => [name, mean(0, 0, 0)])), differences: null })),
    questions: values.map((of, at) => ({ query: `q${at}`, filter: null, answers: 1, measures: of.map((value) => ({ "ndcg@10": value })) })),
  };
}

test("a difference is told apart from chance by its interval", () => {
  assert.equal(verdictOf(mean(0.1, 0.01, 0.2)), "better");
  assert.equal(verdictOf(mean(-0.1, -0.2, -0.01)), "worse");
  assert.equal(verdictOf(mean(0.1, 0, 0.2)), "unsure");
  assert.equal(verdictOf(mean(0, 0, 0)), "unsure");
});

test("the main measure comes first, then recall at growing depths", () => {
  assert.deepEqual(measuresOf(evaluated([1])), ["ndcg@10", "recall@5", "recall@20", "mrr"]);
});

test("questions that lost most come first; of one setting, those that it answers worst", () => {
  assert.deepEqual(rowsOf(evaluated([1, 1], [1, 0.2], [0, 1], [0, 0])).map(({ query }) => query), ["q1", "q3", "q0", "q2"]);
  assert.deepEqual(rowsOf(evaluated([0.5], [0], [1])).map(({ query, change }) => [query, change]), [["q1", null], ["q0", null], ["q2", null]]);
});

test("the filter of a judged question comes back from the address", () => {
  const filter = { where: { uri: { glob: "a/**" } }, collectionIds: ["c"], knowledgeSourceIds: ["s", "t"] };
  const { q, where, collections, sources } = whatOf("oil", filter) as Record<string, string>;
  assert.equal(q, "oil");
  assert.deepEqual(filterOf({ where, collections, sources }), filter);
  assert.deepEqual(filterOf(whatOf("oil", { metadata: { year: 2024 } }) as { where: string }), { where: { "metadata.year": 2024 } });
  assert.equal(filterOf(whatOf("oil", null) as object), undefined);
});
