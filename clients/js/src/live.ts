/**
 * Live events of knowledge sources over one WebSocket, whatever the number of subscribers.
 *
 * The rule of `seq`: after a message with `seq` n, a snapshot or an event, the next event of that
 * source is n + 1. A new connection asks for the events after the last one seen, and what was seen
 * is dropped, so a listener gets every event once and in order across reconnects. Snapshots are
 * states, not events: each reconnect delivers one per source.
 */

export interface LiveMessage {
  /** `snapshot`, `progress`, `job`, `source`, `done`, or `error` with a `code`. */
  type: string;
  knowledgeSourceId?: string;
  seq?: number;
  [name: string]: unknown;
}

/** `closed`: by `close()`, or because the service refuses the key. */
export type LiveState = "connecting" | "connected" | "reconnecting" | "closed";

export interface LiveOptions {
  /**
   * The address of `/api/ws`, asked before each connection: with a `ticket`, or with the cookie. The
   * signal aborts when its answer is of no use any more.
   */
  url: (signal: AbortSignal) => Promise<string | URL> | string | URL;
  onState?: (state: LiveState) => void;
  /** The key or session is no longer valid; the connection is not tried again. */
  onUnauthorized?: () => void;
  WebSocket?: new (url: string | URL) => WebSocket;
  /** A number from 0 to 1; for tests. */
  random?: () => number;
}

export type LiveListener = (message: LiveMessage) => void;

const NO_KEY = 4401;
const FORBIDDEN = 4403;
/** Milliseconds. The service pings every 20 seconds. */
const SILENCE = 45_000;
/** Milliseconds without a ping that are suspicious when the network has just changed. */
const DOUBTFUL = 25_000;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;
const MAX_IDS = 10_000;

/** Milliseconds before a try after so many failures: doubled each time, half of it by chance. */
export function backoff(failures: number, random: () => number = Math.random): number {
  const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** failures);
  return longest / 2 + (random() * longest) / 2;
}

/** Which messages are new, and where to resume: the last `seq` of each source. */
export class Positions {
  private readonly seen = new Map<string, number>();
  /** Sources that had a snapshot on this connection. */
  private readonly started = new Set<string>();

  /** Whether to deliver the message; remembers its number. */
  take(message: LiveMessage): boolean {
    const { knowledgeSourceId: id, seq, type } = message;
    if (id === undefined || seq === undefined) return true;
    const last = this.seen.get(id);
    if (type === "snapshot") {
      // The first one decides: the service may have reduced our number. A later one repeats the
      // events that overtook it.
      this.seen.set(id, this.started.has(id) ? Math.max(seq, last ?? 0) : seq);
      this.started.add(id);
      return true;
    }
    if (last !== undefined && seq <= last) return false;
    this.seen.set(id, seq);
    return true;
  }

  /** A new connection begins. */
  reconnected(): void {
    this.started.clear();
  }

  after(ids: Iterable<string>): Record<string, number> {
    const after: Record<string, number> = {};
    for (const id of ids) {
      const seq = this.seen.get(id);
      if (seq !== undefined) after[id] = seq;
    }
    return after;
  }

  forget(id: string): void {
    this.seen.delete(id);
    this.started.delete(id);
  }
}

export class Live {
  state: LiveState = "closed";
  private readonly options: LiveOptions;
  private readonly listeners = new Map<string, Set<LiveListener>>();
  private readonly positions = new Positions();
  /** Ids that this connection has subscribed. */
  private sent = new Set<string>();
  private socket: WebSocket | undefined;
  /** Aborted when the connection, or the attempt to make one, is given up. */
  private attempt = new AbortController();
  /** When the connection was begun or said something last; the time of day, as clocks of timers stop in sleep. */
  private heardAt = 0;
  private failures = 0;
  private isOpen = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watchdog: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LiveOptions) {
    this.options = options;
  }

  /** Connect, and stay connected until `close`. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.failures = 0;
    this.setState("connecting");
    void this.connect();
  }

  close(): void {
    this.isOpen = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.drop();
    this.setState("closed");
  }

  /**
   * The network is back, or the page is visible again: try now instead of after the backoff, and do
   * not trust a connection that should have said something.
   */
  retryNow(): void {
    if (!this.isOpen) return;
    if (this.timer === undefined) {
      if (Date.now() - this.heardAt < DOUBTFUL) return;
      this.drop();
      this.setState("reconnecting");
    }
    clearTimeout(this.timer);
    void this.connect();
  }

  /**
   * Deliver the messages of sources to a listener, first a snapshot of each. Listeners of the same
   * source share a subscription. Returns what ends it.
   */
  subscribe(ids: Iterable<string>, listener: LiveListener): () => void {
    const wanted = new Set(ids);
    for (const id of wanted) {
      const listeners = this.listeners.get(id);
      if (listeners) {
        listeners.add(listener);
        // The source's snapshot went to the others: have it sent again.
        this.sent.delete(id);
      } else this.listeners.set(id, new Set([listener]));
    }
    this.scheduleSync();
    return () => {
      for (const id of wanted) {
        const listeners = this.listeners.get(id);
        listeners?.delete(listener);
        if (listeners?.size === 0) this.listeners.delete(id);
      }
      wanted.clear();
      this.scheduleSync();
    };
  }

  private setState(state: LiveState): void {
    if (state === this.state) return;
    this.state = state;
    this.options.onState?.(state);
  }

  private async connect(): Promise<void> {
    this.timer = undefined;
    const { signal } = (this.attempt = new AbortController());
    // From here on: a request into a dead network is never answered.
    this.watch();
    let socket: WebSocket;
    try {
      const url = await this.options.url(signal);
      if (signal.aborted) return;
      socket = new (this.options.WebSocket ?? WebSocket)(url);
    } catch {
      if (!signal.aborted) this.tryLater();
      return;
    }
    this.socket = socket;
    socket.onopen = () => {
      if (socket !== this.socket) return;
      this.watch();
      this.positions.reconnected();
      this.setState("connected");
      this.sync();
    };
    socket.onmessage = (event: MessageEvent) => {
      if (socket === this.socket) this.receive(String(event.data));
    };
    socket.onclose = (event: CloseEvent) => {
      if (socket !== this.socket) return;
      if (event.code === NO_KEY || event.code === FORBIDDEN) {
        this.close();
        this.options.onUnauthorized?.();
      } else this.tryLater();
    };
  }

  private tryLater(): void {
    this.drop();
    this.setState("reconnecting");
    this.timer = setTimeout(() => void this.connect(), backoff(this.failures, this.options.random));
    this.failures += 1;
  }

  /** Forget the connection; what it still sends is ignored. */
  private drop(): void {
    clearTimeout(this.watchdog);
    this.attempt.abort();
    const socket = this.socket;
    this.socket = undefined;
    this.sent = new Set();
    socket?.close();
  }

  /** A connection that is silent for long is dead, even if the browser does not know yet. */
  private watch(): void {
    clearTimeout(this.watchdog);
    this.heardAt = Date.now();
    this.watchdog = setTimeout(() => this.tryLater(), SILENCE);
  }

  private receive(text: string): void {
    this.watch();
    this.failures = 0;
    const message = JSON.parse(text) as LiveMessage;
    if (message.type === "ping" || message.type === "pong") return;
    const id = message.knowledgeSourceId;
    if (id === undefined || !this.positions.take(message)) return;
    for (const listener of [...(this.listeners.get(id) ?? [])]) listener(message);
  }

  /** After all calls of the same task, so that a page of rows is one message. */
  private scheduleSync(): void {
    queueMicrotask(() => this.sync());
  }

  /** Tell the service what has changed since it was told last. */
  private sync(): void {
    for (const id of this.sent) if (!this.listeners.has(id)) this.positions.forget(id);
    if (this.state !== "connected") return;
    const ended = [...this.sent].filter((id) => !this.listeners.has(id));
    const added = [...this.listeners.keys()].filter((id) => !this.sent.has(id)).slice(0, MAX_IDS);
    if (ended.length) this.send({ type: "unsubscribe", knowledgeSourceIds: ended });
    if (added.length) {
      this.send({ type: "subscribe", knowledgeSourceIds: added, after: this.positions.after(added) });
    }
    for (const id of ended) this.sent.delete(id);
    for (const id of added) this.sent.add(id);
  }

  private send(command: object): void {
    this.socket?.send(JSON.stringify(command));
  }
}
