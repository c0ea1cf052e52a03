/** Data of the API in a component: read, read again, and kept while it is read again. */

import { useEffect, useRef, useState } from "preact/hooks";
import { recoveries } from "../app/connection.ts";
import { AtMostEvery } from "./pace.ts";

export interface Resource<T> {
  /** The latest answer; undefined until the first one for these `dependencies`. */
  data: T | undefined;
  /** Why the last try failed. `data` may still be there, from before. */
  error: unknown;
  /** Whether nothing is there yet. */
  isLoading: boolean;
  /** Read again; at most once a second, however often it is called. */
  refresh: () => void;
  /** Show another value until the next answer. */
  set: (data: T) => void;
}

export interface ResourceOptions {
  /** Milliseconds between reads while the page is visible. */
  every?: number | undefined;
}

interface Held<T> {
  key: string;
  data?: T;
  error?: unknown;
}

/** `dependencies`: values that the request is made of; other values start anew. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
  { every }: ResourceOptions = {},
): Resource<T> {
  const key = JSON.stringify(dependencies);
  const [held, setHeld] = useState<Held<T>>({ key });
  const latest = useRef({ load, key });
  latest.current = { load, key };
  const reader = useRef<Reader<T>>(undefined);
  reader.current ??= new Reader<T>(() => latest.current, setHeld);

  const seen = recoveries.value;
  useEffect(() => reader.current!.start(), [key, seen]);
  useEffect(() => {
    if (every === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") reader.current!.refresh();
    }, every);
    return () => clearInterval(timer);
  }, [every]);
  useEffect(() => {
    const onVisible = () => {
      if (document.visibilityState === "visible" && every !== undefined) reader.current!.refresh();
    };
    document.addEventListener("visibilitychange", onVisible);
    return () => document.removeEventListener("visibilitychange", onVisible);
  }, [every]);
  useEffect(() => () => reader.current!.stop(), []);

  const now = held.key === key ? held : { key };
  return {
    data: now.data,
    error: now.error,
    isLoading: now.data === undefined && now.error === undefined,
    refresh: reader.current.refresh,
    set: (data) => setHeld({ key, data }),
  };
}

class Reader<T> {
  private request: AbortController | undefined;
  private isStale = false;
  private readonly pace = new AtMostEvery(1000, () => this.read());

  constructor(
    private readonly latest: () => { load: (signal: AbortSignal) => Promise<T>; key: string },
    private readonly show: (change: (held: Held<T>) => Held<T>) => void,
  ) {}

  /** Read at once; an earlier request is of no use any more. */
  start(): void {
    this.request?.abort();
    this.request = undefined;
    this.read();
  }

  readonly refresh = (): void => this.pace.request();

  stop(): void {
    this.pace.stop();
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
    load(request.signal).then(
      (data) => this.done(request, () => ({ key, data })),
      (error: unknown) => this.done(request, (held) => (held.key === key ? { ...held, error } : { key, error })),
    );
  }

  private done(request: AbortController, change: (held: Held<T>) => Held<T>): void {
    if (request.signal.aborted) return;
    this.request = undefined;
    this.show(change);
    if (this.isStale) this.refresh();
  }
}
