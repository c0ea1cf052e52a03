/** The live state of the sources that a screen shows. */

import type { LiveMessage } from "@rag-ingest/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { live, liveState } from "../app/session.ts";
import { apply, type LiveSource } from "./live-source.ts";
import { DirtyKeys } from "./pace.ts";

export type { LiveSource };

const NOTHING: ReadonlyMap<string, LiveSource> = new Map();

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
  // Without a connection, what was read last is newer.
  return liveState.value === "connected" ? states.current : NOTHING;
}
