/** Numbers, sizes and times in the language of the page. Formatters are made once per language. */

import { language } from "./language.ts";

const made = new Map<string, unknown>();

function once<T>(kind: string, make: (language: string) => T): T {
  const key = `${language.value} ${kind}`;
  let found = made.get(key) as T | undefined;
  if (found === undefined) made.set(key, (found = make(locale())));
  return found;
}

/** The reader's form of the language where the browser names one: dates in `en-GB` are not those of `en`. */
function locale(): string {
  return globalThis.navigator?.languages?.find((name) => name.split("-")[0] === language.value) ?? language.value;
}

export function number(value: number): string {
  return once("number", (name) => new Intl.NumberFormat(name)).format(value);
}

/** A count that was not counted to the end: `10,000+`. */
export function boundedCount(value: number, isMore: boolean): string {
  return isMore ? `${number(value)}+` : number(value);
}

/** 12.3k, for tiles and axes. */
export function compact(value: number): string {
  const make = (name: string) =>
    new Intl.NumberFormat(name, { notation: "compact", maximumFractionDigits: 1 });
  return once("compact", make).format(value);
}

/** `value` from 0 to 100. */
export function percent(value: number): string {
  const make = (name: string) => new Intl.NumberFormat(name, { style: "percent" });
  return once("percent", make).format(value / 100);
}

export function decimal(value: number, digits: number): string {
  const make = (name: string) =>
    new Intl.NumberFormat(name, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return once(`decimal ${digits}`, make).format(value);
}

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** `29 B`, `1.3 kB`, `5 GB`. */
export function bytes(value: number): string {
  let unit = 0;
  let scaled = value;
  while (scaled >= 999.5 && unit < SIZES.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  // Intl says `29 byte` or `29B`.
  if (unit === 0) return `${number(value)}\u00a0B`;
  const make = (name: string) =>
    new Intl.NumberFormat(name, {
      style: "unit",
      unit: SIZES[unit]!,
      unitDisplay: "short",
      maximumFractionDigits: scaled < 10 ? 1 : 0,
    });
  return once(`${unit} ${scaled < 10}`, make).format(scaled);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Number.POSITIVE_INFINITY],
];

/** `3 minutes ago`, `in 2 hours`; `now` in milliseconds. */
export function relative(time: Date, now: number = Date.now()): string {
  const make = (name: string) => new Intl.RelativeTimeFormat(name, { numeric: "auto", style: "short" });
  let amount = (time.getTime() - now) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size - 0.5) return once("relative", make).format(Math.round(amount), unit);
    amount /= size;
  }
  return dateTime(time);
}

export function dateTime(time: Date): string {
  const make = (name: string) =>
    new Intl.DateTimeFormat(name, { dateStyle: "medium", timeStyle: "medium" });
  return once("dateTime", make).format(time);
}

/** A time that was planned: without seconds. */
export function appointment(time: Date): string {
  const make = (name: string) => new Intl.DateTimeFormat(name, { dateStyle: "medium", timeStyle: "short" });
  return once("appointment", make).format(time);
}

export function date(time: Date): string {
  return once("date", (name) => new Intl.DateTimeFormat(name, { dateStyle: "medium" })).format(time);
}

/** `850 ms`, `12.3 sec`, `4 min 5 sec`, `30 min`, `3 hr 20 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 999.5) return unit(Math.round(milliseconds), "millisecond");
  if (milliseconds < 59_950) return unit(Math.round(milliseconds / 100) / 10, "second");
  const seconds = Math.round(milliseconds / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours === 0) return units([minutes, "minute"], [seconds % 60, "second"]);
  if (hours < 48) return units([hours, "hour"], [minutes, "minute"]);
  return unit(Math.round(hours / 24), "day");
}

function units(first: [number, string], second: [number, string]): string {
  return second[0] === 0 ? unit(...first) : `${unit(...first)} ${unit(...second)}`;
}

function unit(value: number, unit: string): string {
  const make = (name: string) => new Intl.NumberFormat(name, { style: "unit", unit, unitDisplay: "short" });
  return once(`unit ${unit}`, make).format(value);
}

/** The names of a list in order: `by name, 2 before 10`. */
export function compareNames(a: string, b: string): number {
  return once("collator", (name) => new Intl.Collator(name, { numeric: true })).compare(a, b);
}
