/** A schedule in a sentence; an unusual expression stays as it is. */

import { language } from "../../messages/language.ts";
import { sources } from "./messages.ts";
import { inWords } from "./schedule-words.ts";

export function scheduleText(cron: string, timezone: string): string {
  const words = inWords(cron);
  const say = sources().scheduleWords;
  switch (words.kind) {
    case "hourly":
      return say.hourly(words.minute);
    case "daily":
      return say.daily(words.time, timezone);
    case "weekly":
      return say.weekly(listOf(words.days.map(weekday)), words.time, timezone);
    case "monthly":
      return say.monthly(words.day, words.time, timezone);
    case "other":
      return say.other(cron, timezone);
  }
}

/** Sunday is 0. */
function weekday(day: number): string {
  // 4 January 1970 was a Sunday.
  return new Intl.DateTimeFormat(language.value, { weekday: "long", timeZone: "UTC" }).format((3 + day) * 86_400_000);
}

function listOf(words: string[]): string {
  return new Intl.ListFormat(language.value).format(words);
}
