/** A list of the API in a component: page by page, with its state in the address, new rows announced. */

import { ApiError, type Page } from "@rag-ingest/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { readQuery, setQuery, text } from "../app/router.ts";
import { merge } from "./merge.ts";
import { useResource } from "./resource.ts";

export interface List<T> {
  /** Undefined until the first answer. */
  rows: T[] | undefined;
  error: unknown;
  isLoading: boolean;
  /** New rows that are not shown: announce them with `<FreshRows>`. */
  fresh: number;
  isMoreFresh: boolean;
  showFresh: () => void;
  /** Read again, at most once a second. */
  refresh: () => void;
  pager: Pager;
}

export interface Pager {
  /** Undefined: there is no such page. */
  first: (() => void) | undefined;
  previous: (() => void) | undefined;
  next: (() => void) | undefined;
}

interface Shown<T> {
  key: string;
  page: Page<T>;
  rows: T[];
  fresh: number;
  isMoreFresh: boolean;
}

export interface ListOptions<T> {
  /** Read one page; `cursor` is undefined for the first. */
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>;
  /** What the request is made of besides the cursor: other values show another list. */
  dependencies: readonly unknown[];
  keyOf: (row: T) => string;
  /** Milliseconds between reads while the page is visible. */
  every?: number;
}

/** Whether the reader has turned the page, and the table that comes takes the focus. */
export const pageTurn = { isDue: false };

/** The cursor is the parameter `cursor` of the address. */
export function useList<T>({ load, dependencies, keyOf, every }: ListOptions<T>): List<T> {
  const { cursor } = readQuery({ cursor: text });
  const [shown, setShown] = useState<Shown<T>>();
  const earlier = useRef<(string | undefined)[]>([]);
  const resource = useResource((signal) => load(cursor, signal), [...dependencies, cursor], { every });
  const key = JSON.stringify([...dependencies, cursor]);

  useEffect(() => {
    const page = resource.data;
    if (page === undefined) return;
    setShown((before) => {
      if (before?.key !== key || before.rows.length === 0) return start(key, page);
      const { rows, fresh, isMore } = merge(before.rows, page.items, keyOf);
      // On later pages rows move down from the page before: they are not new.
      const isFirst = cursor === undefined;
      return { key, page, rows, fresh: isFirst ? fresh : 0, isMoreFresh: isFirst && isMore };
    });
  }, [resource.data]);

  const now = shown?.key === key ? shown : undefined;
  const go = (to: string | undefined) => {
    pageTurn.isDue = true;
    setQuery({ cursor: to });
  };
  const next = now?.page.nextCursor ?? undefined;
  // A cursor of another list or version: reading it again would fail again.
  const isLost = resource.error instanceof ApiError && resource.error.code === "invalid_cursor";
  return {
    rows: now?.rows,
    error: resource.error,
    isLoading: now === undefined && resource.error === undefined,
    fresh: now?.fresh ?? 0,
    isMoreFresh: now?.isMoreFresh ?? false,
    showFresh: () => now && setShown(start(key, now.page)),
    refresh: isLost ? () => go(undefined) : resource.refresh,
    pager: {
      first: cursor === undefined ? undefined : () => go(undefined),
      previous: earlier.current.length && cursor !== undefined ? () => go(earlier.current.pop()) : undefined,
      next: next === undefined ? undefined : () => {
        earlier.current.push(cursor);
        go(next);
      },
    },
  };
}

function start<T>(key: string, page: Page<T>): Shown<T> {
  return { key, page, rows: page.items, fresh: 0, isMoreFresh: false };
}
