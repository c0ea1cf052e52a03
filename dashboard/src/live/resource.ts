/** Data of the API in a component: read, read again, and kept while it is read again. */

import { useEffect, useRef, useState } from "preact/hooks";
import { recoveries } from "../app/connection.ts";
import { Reader, type Held } from "./reader.ts";

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
