/** Times, sizes and numbers. */

import { signal } from "@preact/signals";
import { bytes, dateTime, number, relative } from "../messages/format.ts";

/** Ticks each half minute, so that `3 minutes ago` stays true. */
const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 30_000);

/** `3 minutes ago`, with the exact time on hover; a dash for null. */
export function Time({ value }: { value: string | null | undefined }) {
  if (!value) return <Missing />;
  const time = new Date(value);
  const text = relative(time, Math.max(now.value, Date.now() - 30_000));
  return <time dateTime={value} title={dateTime(time)}>{text}</time>;
}

export function Bytes({ value }: { value: number | null | undefined }) {
  return value == null ? <Missing /> : <span title={`${number(value)} bytes`}>{bytes(value)}</span>;
}

export function Count({ value }: { value: number | null | undefined }) {
  return value == null ? <Missing /> : <>{number(value)}</>;
}

export function Missing() {
  return <span class="missing">–</span>;
}

/** A name or text of users, in whatever script: `dir="auto"` orders it, and it is never markup. */
export function Name({ children, title }: { children: string; title?: string }) {
  return <bdi class="name" dir="auto" title={title ?? children}>{children}</bdi>;
}
