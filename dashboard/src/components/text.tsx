/** Times, sizes and numbers. */

import { signal } from "@preact/signals";
import { bytes, dateTime, number, relative } from "../messages/format.ts";

/** Each half minute, so that `3 minutes ago` stays true. */
const ticks = signal(0);
setInterval(() => (ticks.value += 1), 30_000);
/** Milliseconds that the clocks of the service and of this computer may differ unseen. */
const SKEW = 60_000;

/** `3 minutes ago`, with the exact time on hover; a dash for null. */
export function Time({ value }: { value: string | null | undefined }) {
  if (!value) return <Missing />;
  const time = new Date(value);
  ticks.value;
  const now = Date.now();
  const isNow = time.getTime() > now && time.getTime() < now + SKEW;
  const text = relative(isNow ? new Date(now) : time, now);
  return <time dateTime={value} title={dateTime(time)}>{text}</time>;
}

export function Bytes({ value }: { value: number | null | undefined }) {
  return value == null ? <Missing /> : <span title={`${number(value)} bytes`}>{bytes(value)}</span>;
}

export function Count({ value }: { value: number | null | undefined }) {
  return value == null ? <Missing /> : <>{number(value)}</>;
}

/** The end of an id: ids begin with the time, so those of one minute begin alike. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}

export function Missing() {
  return <span class="missing">–</span>;
}

/** A name or text of users, in whatever script: `dir="auto"` orders it, and it is never markup. */
export function Name({ children, title }: { children: string; title?: string }) {
  return <bdi class="name" dir="auto" title={title ?? children}>{children}</bdi>;
}
