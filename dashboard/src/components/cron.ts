/** Cron expressions as choices and in words. Pure. */

export type Every = "hour" | "day" | "week" | "month";

export interface Choice {
  every: Every;
  minute: number;
  hour: number;
  /** 1 is Monday, 7 Sunday. */
  weekday: number;
  day: number;
}

export const DAILY: Choice = { every: "day", minute: 0, hour: 6, weekday: 1, day: 1 };

export function toCron({ every, minute, hour, weekday, day }: Choice): string {
  if (every === "hour") return `${minute} * * * *`;
  if (every === "day") return `${minute} ${hour} * * *`;
  return every === "week" ? `${minute} ${hour} * * ${weekday}` : `${minute} ${hour} ${day} * *`;
}

/** The choice that an expression is, or undefined for any other. */
export function fromCron(cron: string): Choice | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) return undefined;
  const [minute, hour, day, month, weekday] = fields.map((field) => (/^\d+$/.test(field) ? Number(field) : field));
  if (typeof minute !== "number" || month !== "*") return undefined;
  const base = { ...DAILY, minute };
  if (hour === "*") return day === "*" && weekday === "*" ? { ...base, every: "hour" } : undefined;
  if (typeof hour !== "number") return undefined;
  if (typeof day === "number" && weekday === "*") return { ...base, hour, day, every: "month" };
  if (day !== "*") return undefined;
  if (weekday === "*") return { ...base, hour, every: "day" };
  return typeof weekday === "number" && weekday <= 7 ? { ...base, hour, weekday: weekday || 7, every: "week" } : undefined;
}
