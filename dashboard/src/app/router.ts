/**
 * The address after `#`: a path and its parameters, such as `#/sources?status=failed`.
 *
 * The state of every list is in its parameters, so that a link shows what its sender saw. `app`, the
 * operator's application, is kept across screens.
 */

import { computed, signal, type ReadonlySignal } from "@preact/signals";

export type QueryValue = string | number | boolean | undefined | null;
export type Query = Readonly<Record<string, QueryValue>>;

export interface Place {
  path: string;
  query: URLSearchParams;
}

/** Parameters that stay when the screen changes. */
const KEPT = ["app"];

/** The path and parameters of a hash; without one, the start. */
export function parseHash(hash: string): Place {
  const [path = "", query = ""] = split(hash.replace(/^#/, ""), "?");
  return { path: path.startsWith("/") ? path : "/", query: new URLSearchParams(query) };
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function formatHash(path: string, query: URLSearchParams): string {
  // Colons and slashes are readable and need no escape here.
  const text = query.toString().replace(/%3A/g, ":").replace(/%2F/g, "/");
  return text ? `#${path}?${text}` : `#${path}`;
}

type Params<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { [name in Name]: string } & Params<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? { [name in Name]: string }
    : {};
/** The parameters of a path pattern: `"/sources/:id"` has `{ id: string }`. */
export type RouteParams<P extends string> = Params<P>;

/** The parameters of a path, or null if it does not match the pattern. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? "";
    if (part.startsWith(":")) {
      if (!value) return null;
      try {
        params[part.slice(1)] = decodeURIComponent(value);
      } catch {
        return null;
      }
    } else if (part !== value) return null;
  }
  return params;
}

const current = signal<Place>(parseHash(globalThis.location?.hash ?? ""));

/** Where the page is. */
export const place: ReadonlySignal<Place> = current;
/** Only the path: what depends on it does not render again for a filter. */
export const path: ReadonlySignal<string> = computed(() => current.value.path);

globalThis.addEventListener?.("hashchange", () => {
  current.value = parseHash(globalThis.location.hash);
});

/** The address of a screen, for links: `href("/sources", { status: "failed" })`. */
export function href(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const name of KEPT) {
    const value = current.value.query.get(name);
    if (value) params.set(name, value);
  }
  for (const [name, value] of Object.entries(query)) set(params, name, value);
  return formatHash(path, params);
}

function set(params: URLSearchParams, name: string, value: QueryValue): void {
  if (value === undefined || value === null || value === "" || value === false) params.delete(name);
  else params.set(name, String(value));
}

/** The path of the screen that is shown; undefined before the first. */
let shown: string | undefined;

/** The screen of this path is there now. */
export function arrived(path: string): void {
  shown = path;
}

export function navigate(path: string, query: Query = {}): void {
  globalThis.location.hash = href(path, query);
}

/**
 * Change parameters of the address of the screen that is shown; undefined removes one. `replace`:
 * without history. A screen that the reader is leaving changes nothing any more: its parameters would
 * end up on the next one, or bring the reader back.
 */
export function setQuery(changes: Query, { replace = false } = {}): void {
  // The address, as `current` follows it only after other events.
  const { path, query } = parseHash(globalThis.location.hash);
  if (shown !== undefined && path !== shown) return;
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) set(params, name, value);
  const hash = formatHash(path, params);
  if (replace) {
    history.replaceState(history.state, "", hash);
    current.value = parseHash(hash);
  } else globalThis.location.hash = hash;
}

/** How a parameter of the address becomes a value; undefined if it is missing or invalid. */
export type Parse<T> = (text: string) => T | undefined;

export const text: Parse<string> = (value) => value || undefined;
export const flag: Parse<true> = (value) => (value === "true" ? true : undefined);
export const integer: Parse<number> = (value) => (/^\d{1,9}$/.test(value) ? Number(value) : undefined);
export function oneOf<const T extends string>(values: readonly T[]): Parse<T> {
  return (value) => values.find((known) => known === value);
}

export type Parsed<S extends Record<string, Parse<unknown>>> = {
  readonly [name in keyof S]: S[name] extends Parse<infer T> ? T | undefined : never;
};

/** The typed parameters of the address. Read it in a component: it renders again when they change. */
export function readQuery<S extends Record<string, Parse<unknown>>>(schema: S): Parsed<S> {
  const { query } = current.value;
  return Object.fromEntries(
    Object.entries(schema).map(([name, parse]) => {
      const value = query.get(name);
      return [name, value === null ? undefined : parse(value)];
    }),
  ) as Parsed<S>;
}
