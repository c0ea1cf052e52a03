/** The live state of the sources that a screen shows. */

import type { LiveMessage, Source } from "@rag-ingest/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { live } from "../app/session.ts";
import { DirtyKeys } from "./pace.ts";

/** What messages say of a source; a field is missing until a message has it. */
export interface LiveSource {
  status?: Source["status"];
  /** 0 to 100; null while the total is unknown. */
  percent?: number | null;
  etaSeconds?: number | null;
  stage?: string | null;
  total?: number;
  completed?: number;
  failed?: number;
  errorCode?: string | null;
  chunkCount?: number;
}

const FIELDS = ["status", "percent", "etaSeconds", "stage", "total", "completed", "failed", "errorCode", "chunkCount"] as const;

/**
 * Follow sources by id; the component renders at most once a frame. `onChange` is called when a
 * source starts or ends, and its stored fields may be read again (a list's `refresh`).
 */
export function useLiveSources(
  ids: readonly string[],
  onChange?: () => void,
  onMessage?: (message: LiveMessage) => void,
): ReadonlyMap<string, LiveSource> {
  const states = useRef(new Map<string, LiveSource>());
  const [, render] = useState(0);
  const callbacks = useRef({ onChange, onMessage });
  callbacks.current = { onChange, onMessage };
  const key = ids.join();
  useEffect(() => {
    if (!ids.length) return;
    const wanted = new Set(ids);
    for (const id of states.current.keys()) if (!wanted.has(id)) states.current.delete(id);
    const dirty = new DirtyKeys<string>(() => render((n) => n + 1));
    return live.subscribe(ids, (message) => {
      const id = message.knowledgeSourceId!;
      const before = states.current.get(id);
      const after = apply(before, message);
      states.current.set(id, after);
      dirty.mark(id);
      if (message.type !== "snapshot" && after.status !== before?.status) callbacks.current.onChange?.();
      callbacks.current.onMessage?.(message);
    });
  }, [key]);
  return states.current;
}

/** The state after a message; without a percentage, that of before stays, until the status changes. */
export function apply(before: LiveSource | undefined, message: LiveMessage): LiveSource {
  if (message.type === "error") return before ?? {};
  const known = FIELDS.filter((name) => name in message);
  const after: LiveSource = { ...before, ...Object.fromEntries(known.map((name) => [name, message[name]])) };
  if (after.percent === null && message.type !== "snapshot" && after.status === before?.status) {
    after.percent = before?.percent ?? null;
  }
  return after;
}
