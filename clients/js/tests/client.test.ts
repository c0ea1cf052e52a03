import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, Client, NetworkError, type ClientOptions } from "../src/client.ts";

interface Asked {
  url: string;
  method: string | undefined;
  headers: Headers;
  body: unknown;
  credentials: string | undefined;
}

function client(answers: (Response | Error)[], options: Partial<ClientOptions> = {}): { client: Client; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    asked.push({ url: String(url), method: init.method, headers: init.headers as Headers, body: init.body, credentials: init.credentials });
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { client: new Client({ baseUrl: "http://host/prefix/", fetch, ...options }), asked };
}

function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json", ...headers } });
}

test("parameters are part of the address, below the prefix", async () => {
  const { client: api, asked } = client([json({ id: "1" })]);
  await api.get("/api/jobs/{id}", { path: { id: "a/b" } });
  assert.equal(asked[0]!.url, "http://host/prefix/api/jobs/a%2Fb");

  assert.equal(api.url("/api/jobs", { query: { limit: 5, cursor: undefined, status: null } }).href, "http://host/prefix/api/jobs?limit=5");
});

test("with a key there is no cookie, without one the header against foreign pages", async () => {
  const withKey = client([json({})], { key: "rag_1", applicationId: "app" });
  await withKey.client.get("/api/usage");
  assert.equal(withKey.asked[0]!.headers.get("Authorization"), "Bearer rag_1");
  assert.equal(withKey.asked[0]!.headers.get("X-Application-Id"), "app");
  assert.equal(withKey.asked[0]!.credentials, "omit");

  const withCookie = client([json({})]);
  await withCookie.client.get("/api/usage");
  assert.equal(withCookie.asked[0]!.headers.get("X-Ingest-Csrf"), "1");
  assert.equal(withCookie.asked[0]!.headers.get("Authorization"), null);
  assert.equal(withCookie.asked[0]!.credentials, "same-origin");
});

test("objects are sent as JSON, forms as they are", async () => {
  const { client: api, asked } = client([json({}), json({})]);
  await api.post("/api/search", { body: { query: "x" } });
  assert.equal(asked[0]!.body, '{"query":"x"}');
  assert.equal(asked[0]!.headers.get("Content-Type"), "application/json");

  const form = new FormData();
  await api.post("/upload/documents", { body: form });
  assert.equal(asked[1]!.body, form);
  assert.equal(asked[1]!.headers.get("Content-Type"), null);
});

test("a problem is an ApiError with its code and fields", async () => {
  const problem = { code: "invalid_request", detail: "wrong", errors: [{ field: "body.name", message: "too long", code: "x" }], limit: 3 };
  const { client: api } = client([json(problem, 422, { "Retry-After": "7" })]);
  const error = await api.get("/api/usage").catch((failure: unknown) => failure);

  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.code, error.detail, error.retryAfter], [422, "invalid_request", "wrong", 7]);
  assert.equal(error.errors[0]!.field, "body.name");
  assert.equal(error.problem.limit, 3);
  assert.equal(error.isTemporary, false);
});

test("the page of a proxy is an ApiError too", async () => {
  const { client: api } = client([new Response("<h1>Bad Gateway</h1>", { status: 502 })]);
  const error = await api.get("/api/usage").catch((failure: unknown) => failure);

  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.code, error.isTemporary], [502, "unknown", true]);
});

test("no answer, and half an answer, are a NetworkError", async () => {
  const half = new Response('{"id":', { headers: { "Content-Type": "application/json" } });
  const { client: api } = client([new TypeError("fetch failed"), half]);

  await assert.rejects(api.get("/api/usage"), NetworkError);
  await assert.rejects(api.get("/api/usage"), NetworkError);
});

test("an abort is no NetworkError", async () => {
  const { client: api } = client([new DOMException("aborted", "AbortError")]);

  await assert.rejects(api.get("/api/usage"), { name: "AbortError" });
});

test("204 is undefined, text is the response", async () => {
  const { client: api } = client([new Response(null, { status: 204 }), new Response("# x", { headers: { "Content-Type": "text/markdown" } })]);

  assert.equal(await api.delete("/api/jobs/{id}", { path: { id: "1" } }), undefined);
  assert.equal(await (await api.get("/api/documents/{id}/text", { path: { id: "1" } })).text(), "# x");
});

test("items reads the pages as they are consumed", async () => {
  const { client: api, asked } = client([json({ items: [{ id: "1" }, { id: "2" }], nextCursor: "c" }), json({ items: [{ id: "3" }], nextCursor: null })]);
  const ids: string[] = [];
  for await (const job of api.items("/api/jobs", { query: { status: "failed" } })) {
    ids.push(job.id);
    if (ids.length === 2) assert.equal(asked.length, 1);
  }

  assert.deepEqual(ids, ["1", "2", "3"]);
  assert.equal(asked[1]!.url, "http://host/prefix/api/jobs?status=failed&cursor=c");
});
