/** Whose answer counts, when somebody else has signed in meanwhile. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { api, loadSession, session, signIn, type Me, type Session } from "../src/app/session.ts";

/** What the service was asked, and how each request is answered, in any order. */
const asked: { path: string; answer: (status: number, body: object) => void }[] = [];

globalThis.fetch = (input) =>
  new Promise((resolve) => {
    const answer = (status: number, body: object) => resolve(new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } }));
    asked.push({ path: new URL(String(input)).pathname, answer });
  });

const UNAUTHORIZED = { type: "about:blank", title: "Unauthorized", status: 401, code: "unauthorized", detail: "the session has ended" };

function person(name: string): Me {
  return { application: { id: name, name }, role: "editor", isOperator: false, keyName: name } as Me;
}

function keyName(now: Session): string | null | undefined {
  return now.state === "signedIn" ? now.me.keyName : undefined;
}

/** Sign in; the request is answered at once. */
async function signInAs(name: string): Promise<void> {
  const done = signIn({ key: name });
  asked.pop()!.answer(201, person(name));
  await done;
}

beforeEach(async () => {
  asked.length = 0;
  await signInAs("Ada");
});

test("an answer of 401 ends the session that it is about", async () => {
  const request = api.get("/api/job-types");
  asked[0]!.answer(401, UNAUTHORIZED);
  await assert.rejects(request);

  assert.deepEqual(session.value, { state: "signedOut", wasSignedIn: true });
});

test("a late answer to an earlier session does not end the new one", async () => {
  const request = api.get("/api/job-types");
  await signInAs("Bob");
  asked[0]!.answer(401, UNAUTHORIZED);
  await assert.rejects(request);

  assert.equal(keyName(session.value), "Bob");
});

test("a late 401 to the question who is signed in does not end the new session", async () => {
  const loading = loadSession();
  await signInAs("Bob");
  asked[0]!.answer(401, UNAUTHORIZED);
  await loading;

  assert.equal(keyName(session.value), "Bob");
});

test("who was signed in before is not who is signed in now", async () => {
  const loading = loadSession();
  await signInAs("Bob");
  asked[0]!.answer(200, person("Ada"));
  await loading;

  assert.equal(keyName(session.value), "Bob");
});

test("the answer to a session that goes on counts", async () => {
  const loading = loadSession();
  asked[0]!.answer(200, person("Ada, renamed"));
  await loading;

  assert.equal(keyName(session.value), "Ada, renamed");
});
