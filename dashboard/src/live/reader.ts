/** Reads a resource: again when it may have changed, or when the service could not answer. */

import { ApiError } from "@rag-ingest/client";
import { AtMostEvery, realClock, type Clock } from "./pace.ts";

const FIRST_WAIT = 2000;
const LONGEST_WAIT = 60_000;

export interface Held<T> {
  key: string;
  data?: T;
  error?: unknown;
}

export class Reader<T> {
  private request: AbortController | undefined;
  private isStale = false;
  private failures = 0;
  private cancelRetry: (() => void) | undefined;
  private readonly pace: AtMostEvery;

  constructor(
    private readonly latest: () => { load: (signal: AbortSignal) => Promise<T>; key: string },
    private readonly show: (change: (held: Held<T>) => Held<T>) => void,
    private readonly clock: Clock = realClock,
  ) {
    this.pace = new AtMostEvery(1000, () => this.read(), clock);
  }

  /** Read at once; an earlier request is of no use any more. */
  start(): void {
    this.request?.abort();
    this.request = undefined;
    this.read();
  }

  readonly refresh = (): void => this.pace.request();

  stop(): void {
    this.pace.stop();
    this.cancelRetry?.();
    this.request?.abort();
  }

  private read(): void {
    // A slow service gets no second request: it is asked again after its answer.
    if (this.request) {
      this.isStale = true;
      return;
    }
    const { load, key } = this.latest();
    const request = (this.request = new AbortController());
    this.isStale = false;
    this.cancelRetry?.();
    load(request.signal).then(
      (data) => {
        this.failures = 0;
        this.done(request, () => ({ key, data }));
      },
      (error: unknown) => {
        this.done(request, (held) => (held.key === key ? { ...held, error } : { key, error }));
        if (!request.signal.aborted) this.retry(error);
      },
    );
  }

  /** A service that starts, or has too much to do, is asked again. One that is away is noticed elsewhere. */
  private retry(error: unknown): void {
    if (!(error instanceof ApiError) || !error.isTemporary) return;
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.failures++);
    this.cancelRetry = this.clock.after(Math.max(wait, 1000 * (error.retryAfter ?? 0)), this.refresh);
  }

  private done(request: AbortController, change: (held: Held<T>) => Held<T>): void {
    if (request.signal.aborted) return;
    this.request = undefined;
    this.show(change);
    if (this.isStale) this.refresh();
  }
}
