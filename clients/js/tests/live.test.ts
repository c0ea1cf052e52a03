import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { backoff, Live, Positions, type LiveMessage, type LiveState } from "../src/live.ts";

class FakeSocket {
  static all: FakeSocket[] = [];
  static get last(): FakeSocket {
    return FakeSocket.all.at(-1)!;
  }
  sent: Record<string, unknown>[] = [];
  isClosed = false;
  onopen?: () => void;
  onmessage?: (event: { data: string }) => void;
  onclose?: (event: { code: number }) => void;

  constructor(readonly url: string | URL) {
    FakeSocket.all.push(this);
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
    this.isClosed = true;
  }
  says(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

const states: LiveState[] = [];
let unauthorized = 0;
let urls = 0;
let answerUrl: (signal: AbortSignal) => Promise<string>;

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
}

async function opened(): Promise<Live> {
  const live = new Live({
    url: (signal) => {
      urls += 1;
      return answerUrl(signal);
    },
    WebSocket: FakeSocket as unknown as new (url: string | URL) => WebSocket,
    onState: (state) => states.push(state),
    onUnauthorized: () => (unauthorized += 1),
    random: () => 0,
  });
  live.open();
  await settle();
  FakeSocket.last.onopen!();
  return live;
}

beforeEach(() => {
  FakeSocket.all = [];
  states.length = 0;
  unauthorized = 0;
  urls = 0;
  answerUrl = async () => "ws://x/api/ws";
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
});

function event(id: string, seq: number, type = "progress"): LiveMessage {
  return { type, knowledgeSourceId: id, seq };
}

test("subscriptions of one task are one command", async () => {
  const live = await opened();
  live.subscribe(["a", "b"], () => {});
  live.subscribe(["c"], () => {});
  await settle();

  assert.deepEqual(FakeSocket.last.sent, [{ type: "subscribe", knowledgeSourceIds: ["a", "b", "c"], after: {} }]);
});

test("an event is delivered once and in order across a reconnect", async () => {
  const seen: (number | undefined)[] = [];
  const live = await opened();
  live.subscribe(["a"], ({ type, seq }) => type !== "snapshot" && seen.push(seq));
  await settle();
  FakeSocket.last.says(event("a", 4, "snapshot"));
  FakeSocket.last.says(event("a", 5));
  FakeSocket.last.onclose!({ code: 1006 });
  mock.timers.tick(500);
  await settle();
  FakeSocket.last.onopen!();

  assert.equal(FakeSocket.all.length, 2);
  assert.deepEqual(FakeSocket.last.sent, [{ type: "subscribe", knowledgeSourceIds: ["a"], after: { a: 5 } }]);
  FakeSocket.last.says(event("a", 5, "snapshot"));
  FakeSocket.last.says(event("a", 5));
  FakeSocket.last.says(event("a", 6));
  FakeSocket.last.says(event("a", 7));
  assert.deepEqual(seen, [5, 6, 7]);
});

test("a second listener gets a snapshot, and the first no event twice", async () => {
  const first: (number | undefined)[] = [];
  const second: string[] = [];
  const live = await opened();
  live.subscribe(["a"], ({ type, seq }) => type !== "snapshot" && first.push(seq));
  await settle();
  FakeSocket.last.says(event("a", 1, "snapshot"));
  FakeSocket.last.says(event("a", 2));
  live.subscribe(["a"], ({ type }) => second.push(type));
  await settle();
  assert.deepEqual(FakeSocket.last.sent.at(-1), { type: "subscribe", knowledgeSourceIds: ["a"], after: { a: 2 } });
  // Sent before the command arrived, so the service repeats it after the snapshot.
  FakeSocket.last.says(event("a", 3));
  FakeSocket.last.says(event("a", 2, "snapshot"));
  FakeSocket.last.says(event("a", 3));
  FakeSocket.last.says(event("a", 4));

  assert.deepEqual(first, [2, 3, 4]);
  assert.deepEqual(second, ["progress", "snapshot", "progress"]);
});

test("the last listener of a source ends its subscription, and a later one starts anew", async () => {
  const live = await opened();
  const stop = live.subscribe(["a"], () => {});
  const other = live.subscribe(["a"], () => {});
  await settle();
  FakeSocket.last.says(event("a", 9, "snapshot"));
  stop();
  stop();
  await settle();
  assert.equal(FakeSocket.last.sent.filter(({ type }) => type === "unsubscribe").length, 0);
  other();
  await settle();
  assert.deepEqual(FakeSocket.last.sent.at(-1), { type: "unsubscribe", knowledgeSourceIds: ["a"] });
  live.subscribe(["a"], () => {});
  await settle();
  assert.deepEqual(FakeSocket.last.sent.at(-1), { type: "subscribe", knowledgeSourceIds: ["a"], after: {} });
});

test("the wait grows until it connects, and each state is reported once", async () => {
  const live = await opened();
  FakeSocket.last.onclose!({ code: 1006 });
  mock.timers.tick(250);
  await settle();
  FakeSocket.last.onclose!({ code: 1006 });
  mock.timers.tick(250);
  await settle();
  assert.equal(FakeSocket.all.length, 2);
  mock.timers.tick(250);
  await settle();
  assert.equal(FakeSocket.all.length, 3);
  FakeSocket.last.onopen!();
  live.close();

  assert.deepEqual(states, ["connecting", "connected", "reconnecting", "connected", "closed"]);
});

test("without a word for 45 seconds the connection is given up", async () => {
  await opened();
  mock.timers.tick(44_000);
  FakeSocket.last.says({ type: "ping" });
  mock.timers.tick(44_000);
  assert.equal(FakeSocket.last.isClosed, false);
  mock.timers.tick(1_000);

  assert.equal(FakeSocket.last.isClosed, true);
  assert.equal(states.at(-1), "reconnecting");
});

test("a request for the address that is never answered is given up like a silent connection", async () => {
  await opened();
  const signals: AbortSignal[] = [];
  answerUrl = (signal) => {
    signals.push(signal);
    return signals.length === 1 ? new Promise(() => {}) : Promise.resolve("ws://x/api/ws");
  };
  FakeSocket.last.onclose!({ code: 1006 });
  mock.timers.tick(250);
  await settle();
  assert.equal(signals[0]!.aborted, false);
  mock.timers.tick(45_000);
  assert.equal(signals[0]!.aborted, true);
  mock.timers.tick(500);
  await settle();
  FakeSocket.last.onopen!();

  assert.equal(FakeSocket.all.length, 2);
  assert.equal(states.at(-1), "connected");
});

test("a late address of before it was closed and opened again is not used", async () => {
  const live = await opened();
  let answerLate = (_: string): void => {};
  answerUrl = () => new Promise((resolve) => (answerLate = resolve));
  live.close();
  live.open();
  answerUrl = async () => "ws://x/api/ws?ticket=new";
  live.close();
  answerLate("ws://x/api/ws?ticket=old");
  live.open();
  await settle();

  assert.deepEqual(FakeSocket.all.map(({ url }) => url), ["ws://x/api/ws", "ws://x/api/ws?ticket=new"]);
});

test("retryNow trusts a connection only while it has pinged lately", async () => {
  const live = await opened();
  mock.timers.tick(24_000);
  live.retryNow();
  await settle();
  assert.equal(FakeSocket.all.length, 1);
  mock.timers.tick(1_000);
  live.retryNow();
  await settle();

  assert.equal(FakeSocket.all.length, 2);
  assert.equal(FakeSocket.all[0]!.isClosed, true);
  assert.equal(states.at(-1), "reconnecting");
});

test("a refused key ends it", async () => {
  await opened();
  FakeSocket.last.onclose!({ code: 4401 });
  mock.timers.tick(60_000);
  await settle();

  assert.equal(unauthorized, 1);
  assert.equal(FakeSocket.all.length, 1);
  assert.equal(states.at(-1), "closed");
});

test("retryNow does not wait, and makes no second connection", async () => {
  const live = await opened();
  live.retryNow();
  FakeSocket.last.onclose!({ code: 1006 });
  live.retryNow();
  live.retryNow();
  await settle();

  assert.equal(FakeSocket.all.length, 2);
  assert.equal(urls, 2);
});

test("what an old connection still sends is ignored", async () => {
  let count = 0;
  const live = await opened();
  live.subscribe(["a"], () => (count += 1));
  await settle();
  const old = FakeSocket.last;
  old.onclose!({ code: 1006 });
  old.says(event("a", 1));

  assert.equal(count, 0);
});

test("the wait doubles up to 15 seconds, half of it by chance", () => {
  assert.deepEqual([0, 1, 2, 10].map((failures) => backoff(failures, () => 0)), [250, 500, 1000, 7500]);
  assert.deepEqual([0, 1, 2, 10].map((failures) => backoff(failures, () => 1)), [500, 1000, 2000, 15000]);
});

test("a number that the service has reduced is taken over", () => {
  const positions = new Positions();
  positions.take(event("a", 9));
  positions.reconnected();
  positions.take(event("a", 2, "snapshot"));

  assert.equal(positions.take(event("a", 3)), true);
});
