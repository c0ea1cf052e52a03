/** Below a list: other pages, and above it: what is new. */

import { useEffect } from "preact/hooks";
import { announce } from "../live/announcer.ts";
import type { List } from "../live/list.ts";
import { boundedCount } from "../messages/format.ts";
import { Button } from "./button.tsx";
import { components } from "./messages.ts";

export function Pager({ list }: { list: List<never> | List<any> }) {
  const { first, previous, next } = list.pager;
  if (!first && !next) return null;
  return (
    <nav class="pager" aria-label={components().pages}>
      <Button icon="first" disabled={!first} onClick={first}>{components().firstPage}</Button>
      <Button icon="chevronStart" disabled={!previous} onClick={previous}>{components().previousPage}</Button>
      <Button icon="chevronEnd" disabled={!next} onClick={next}>{components().nextPage}</Button>
    </nav>
  );
}

/** "37 new · show": new rows never push away what is being read. */
export function FreshRows({ list }: { list: List<never> | List<any> }) {
  const { fresh, isMoreFresh, showFresh } = list;
  const text = components().newRows(fresh, boundedCount(fresh, isMoreFresh));
  useEffect(() => {
    if (fresh > 0) announce(text);
  }, [text]);
  return (
    <div class="fresh">
      {fresh > 0 && <button type="button" class="fresh-button" onClick={showFresh}>{text} · {components().show}</button>}
    </div>
  );
}
