import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "../../src/live/pace.ts";
import type { Backend, Known, UploadFile, Verdicts } from "../../src/screens/upload/upload-file.ts";
import { Uploader } from "../../src/screens/upload/uploader.ts";

class FakeClock implements Clock {
  time = 0;
  private timers: { at: number; run: () => void }[] = [];
  now(): number {
    return this.time;
  }
  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.time + milliseconds, run };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((other) => other !== timer));
  }
  advance(milliseconds: number): void {
    this.time += milliseconds;
    const due = this.timers.filter(({ at }) => at <= this.time);
    this.timers = this.timers.filter(({ at }) => at > this.time);
    for (const { run } of due) run();
  }
}

/** Stores what it is sent, as the service does: by path, and each key once. */
class FakeService implements Backend {
  stored = new Set<string>();
  answers = new Map<string, Verdicts>();
  checks: number[] = [];
  sent: { paths: string[]; batchId: string | undefined; key: string }[] = [];
  inFlight = 0;
  mostInFlight = 0;
  hashing = 0;
  mostHashing = 0;
  /** Thrown by the next requests, before or after the work is done. */
  failures: { error: Error; isDone?: boolean }[] = [];
  /** Paths whose file cannot be read. */
  broken = new Set<string>();
  onHalf = (): void => {};
  private keys = 0;

  async hash(file: File): Promise<string> {
    this.mostHashing = Math.max(this.mostHashing, ++this.hashing);
    await Promise.resolve();
    this.hashing -= 1;
    if (this.broken.has(file.name)) throw new Error("gone");
    return file.name;
  }

  async check(files: readonly { path: string; sha256: string }[]): Promise<Known[]> {
    this.checks.push(files.length);
    await Promise.resolve();
    return files.flatMap(({ path }, index) => (this.stored.has(path) ? [{ index, verdict: "unchanged" as const, knowledgeSourceId: path }] : []));
  }

  async send(files: readonly UploadFile[], batchId: string | undefined, key: string, signal: AbortSignal, onSent: (bytes: number) => void): Promise<Verdicts> {
    this.sent.push({ paths: files.map(({ path }) => path), batchId, key });
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    await new Promise((resolve) => setTimeout(resolve));
    onSent(files.reduce((sum, { size }) => sum + size, 0) / 2);
    this.onHalf();
    this.inFlight -= 1;
    if (signal.aborted) throw Object.assign(new Error("aborted"), { name: "AbortError" });
    const failure = this.failures.shift();
    if (failure && !failure.isDone) throw failure.error;
    const answer = this.answers.get(key) ?? {
      batchId: batchId ?? "batch",
      files: files.map(({ path }) => ({ verdict: this.stored.has(path) ? ("unchanged" as const) : ("accepted" as const) })),
    };
    this.answers.set(key, answer);
    for (const { path } of files) this.stored.add(path);
    if (failure) throw failure.error;
    return answer;
  }

  newKey(): string {
    return `key ${++this.keys}`;
  }
}

function api(status: number, code = "code", more: object = {}): Error {
  return Object.assign(new Error(code), { name: "ApiError", status, code, isTemporary: [429, 502, 503, 504].includes(status), ...more });
}
const offline = Object.assign(new Error("no answer"), { name: "NetworkError" });

function uploading(service: FakeService, count: number, batchId?: string) {
  const clock = new FakeClock();
  const files = Array.from({ length: count }, (_, i) => ({ path: `${i}`, file: new File(["x"], `${i}`), size: 1 }));
  const upload = new Uploader(files, service, () => {}, batchId, clock, () => 1);
  upload.start();
  return { upload, clock };
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 5000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve));
  assert.ok(condition(), "it never came to this");
}

test("4,000 files are checked by thousands and sent in parts of one batch, three at a time", async () => {
  const service = new FakeService();
  const { upload } = uploading(service, 4000);
  await until(() => upload.phase === "done");

  assert.deepEqual(service.checks, [1000, 1000, 1000, 1000]);
  assert.equal(service.sent.length, 20);
  assert.deepEqual(service.sent.map(({ batchId }) => batchId), [undefined, ...new Array<string>(19).fill("batch")]);
  assert.equal(service.mostInFlight, 3);
  assert.equal(service.mostHashing, 2);
  assert.equal(upload.counts.accepted, 4000);
  assert.equal(upload.doneBytes, upload.totalBytes);
});

test("what is on its way counts as sent, until its request fails", async () => {
  const service = new FakeService();
  service.failures = [{ error: offline }];
  const { upload, clock } = uploading(service, 10);
  const sent: number[] = [];
  service.onHalf = () => sent.push(upload.sentBytes);
  await until(() => upload.retryAt !== undefined);
  sent.push(upload.sentBytes);
  clock.advance(1000);
  await until(() => upload.phase === "done");

  assert.deepEqual([...sent, upload.sentBytes], [5, 0, 5, 10]);
});

test("what is stored is not sent again", async () => {
  const service = new FakeService();
  for (let i = 0; i < 1500; i++) service.stored.add(`${i}`);
  const { upload } = uploading(service, 2000, "earlier");
  await until(() => upload.phase === "done");

  assert.equal(service.sent.flatMap(({ paths }) => paths).length, 500);
  assert.deepEqual([upload.counts.unchanged, upload.counts.accepted], [1500, 500]);
  assert.ok(service.sent.every(({ batchId }) => batchId === "earlier"));
});

test("a part whose answer was lost is sent again with its key, and is stored once", async () => {
  const service = new FakeService();
  service.failures = [{ error: offline, isDone: true }];
  const { upload, clock } = uploading(service, 10);
  await until(() => upload.retryAt !== undefined);
  clock.advance(1000);
  await until(() => upload.phase === "done");

  assert.deepEqual(service.sent.map(({ key }) => key), ["key 1", "key 1"]);
  assert.equal(upload.counts.accepted, 10);
});

test("waits as long as the service asks, and longer after each failure", async () => {
  const service = new FakeService();
  service.failures = [{ error: api(503) }, { error: api(503) }, { error: api(429, "rate_limited", { retryAfter: 7 }) }];
  const { upload, clock } = uploading(service, 1);
  const waits: number[] = [];
  for (let i = 0; i < 3; i++) {
    await until(() => upload.retryAt !== undefined);
    waits.push(upload.retryAt! - clock.time);
    clock.advance(waits[i]! - 1);
    assert.notEqual(upload.retryAt, undefined);
    clock.advance(1);
  }
  await until(() => upload.phase === "done");

  assert.deepEqual(waits, [1000, 2000, 7000]);
  assert.equal(upload.problem, undefined);
});

test("after ten refusals the files of the part have failed, and can be tried again", async () => {
  const service = new FakeService();
  service.failures = Array.from({ length: 10 }, () => ({ error: api(503, "overloaded") }));
  const { upload, clock } = uploading(service, 3);
  for (let i = 0; i < 9; i++) {
    await until(() => upload.retryAt !== undefined);
    clock.advance(60_000);
  }
  await until(() => upload.phase === "done");
  assert.deepEqual([upload.counts.failed, upload.files[0]!.code], [3, "overloaded"]);

  upload.retryFailed();
  await until(() => upload.phase === "done");
  assert.deepEqual([upload.counts.failed, upload.counts.accepted], [0, 3]);
});

test("a part that a proxy finds too large is halved", async () => {
  const service = new FakeService();
  service.failures = [{ error: api(413) }];
  const { upload } = uploading(service, 5);
  await until(() => upload.phase === "done");

  assert.deepEqual(service.sent.map(({ paths }) => paths.length), [5, 3, 2]);
  assert.equal(new Set(service.sent.map(({ key }) => key)).size, 3);
});

test("a batch that has gone is replaced by a new one", async () => {
  const service = new FakeService();
  service.failures = [404, 404, 404].map((status) => ({ error: api(status) }));
  const { upload } = uploading(service, 600, "gone");
  await until(() => upload.phase === "done");

  assert.equal(upload.counts.accepted, 600);
  assert.equal(upload.batchId, "batch");
});

test("a full disk pauses the upload, which goes on where it was", async () => {
  const service = new FakeService();
  service.failures = [{ error: api(507, "insufficient_storage") }];
  const { upload } = uploading(service, 10);
  await until(() => upload.phase === "paused");
  assert.equal((upload.problem as { code: string }).code, "insufficient_storage");

  upload.resume();
  await until(() => upload.phase === "done");
  assert.equal(upload.counts.accepted, 10);
});

test("verdicts of a refused part are those of its files", async () => {
  const service = new FakeService();
  const files = [{ verdict: "rejected", code: "too_large", detail: "no" }];
  service.failures = [{ error: api(422, "nothing_accepted", { problem: { files } }) }];
  const { upload } = uploading(service, 1);
  await until(() => upload.phase === "done");

  assert.deepEqual([upload.files[0]!.state, upload.files[0]!.code], ["rejected", "too_large"]);
});

test("a file that cannot be read fails alone", async () => {
  const service = new FakeService();
  service.broken.add("1");
  const { upload } = uploading(service, 3);
  await until(() => upload.phase === "done");

  assert.deepEqual(upload.files.map(({ state }) => state), ["accepted", "failed", "accepted"]);
});

test("nothing new starts while paused, and nothing is sent after a cancel", async () => {
  const service = new FakeService();
  const { upload } = uploading(service, 1000);
  await until(() => service.sent.length === 1);
  upload.pause();
  await until(() => service.inFlight === 0);
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve));
  assert.equal(service.sent.length, 1);
  assert.equal(upload.counts.accepted, 200);

  upload.resume();
  await until(() => service.inFlight > 0);
  upload.cancel();
  await until(() => service.inFlight === 0);
  const sent = service.sent.length;
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve));
  assert.equal(service.sent.length, sent);
  assert.equal(upload.phase, "cancelled");
  assert.equal(Object.values(upload.counts).reduce((sum, count) => sum + count), 1000);
});
