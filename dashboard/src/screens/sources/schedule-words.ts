/** What a cron expression means, where it is a common one. */

export type Words =
  | { kind: "hourly"; minute: number }
  | { kind: "daily"; time: string }
  | { kind: "weekly"; time: string; days: number[] }
  | { kind: "monthly"; time: string; day: number }
  /** Read it as it is. */
  | { kind: "other" };

const NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** `0 6 * * 1`: weekly at 06:00 on Monday (1; Sunday is 0). */
export function inWords(cron: string): Words {
  const fields = cron.trim().toLowerCase().split(/\s+/);
  if (fields.length !== 5) return { kind: "other" };
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string];
  if (month !== "*" || !isNumber(minute, 59)) return { kind: "other" };
  if (hour === "*" && day === "*" && weekday === "*") return { kind: "hourly", minute: Number(minute) };
  if (!isNumber(hour, 23)) return { kind: "other" };
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (day === "*" && weekday === "*") return { kind: "daily", time };
  if (day === "*") {
    const days = daysOf(weekday);
    return days ? { kind: "weekly", time, days } : { kind: "other" };
  }
  return weekday === "*" && isNumber(day, 31) && day !== "0" ? { kind: "monthly", time, day: Number(day) } : { kind: "other" };
}

function isNumber(text: string, most: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= most;
}

/** `1-5`, `mon,thu`, `7`. */
function daysOf(text: string): number[] | undefined {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [from, to = from] = part.split("-").map(dayOf);
    if (from === undefined || to === undefined || from > to) return undefined;
    for (let day = from; day <= to; day += 1) found.add(day % 7);
  }
  return [...found].sort((a, b) => a - b);
}

function dayOf(text: string): number | undefined {
  if (isNumber(text, 7)) return Number(text);
  const at = NAMES.indexOf(text);
  return at < 0 ? undefined : at;
}
