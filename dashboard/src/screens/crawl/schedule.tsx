/** Schedules of pages and sites: in words, and as a field with the next times. */

import type { ScheduleView } from "@rag-ingest/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { DAILY, fromCron, toCron, type Choice, type Every } from "../../components/cron.ts";
import { SelectField, TextField, fieldError } from "../../components/fields.tsx";
import { useResource } from "../../live/resource.ts";
import { appointment } from "../../messages/format.ts";
import { language } from "../../messages/language.ts";
import { crawl } from "./messages.ts";

/** `every Monday at 06:00 (Europe/Berlin)`; null: the nightly round. */
export function scheduleInWords(schedule: ScheduleView | null): string {
  return schedule === null ? crawl().nightly : crawl().inWords.zone(cronInWords(schedule.cron), schedule.timezone);
}

function cronInWords(cron: string): string {
  const words = crawl().inWords;
  const choice = fromCron(cron);
  if (!choice) return words.other(cron);
  const time = `${two(choice.hour)}:${two(choice.minute)}`;
  if (choice.every === "hour") return words.hour(two(choice.minute));
  if (choice.every === "day") return words.day(time);
  return choice.every === "week" ? words.week(weekdayName(choice.weekday), time) : words.month(String(choice.day), time);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** 1 is Monday. */
function weekdayName(weekday: number): string {
  // 1 January 2024 was a Monday.
  return new Intl.DateTimeFormat(language.value, { weekday: "long", timeZone: "UTC" }).format(new Date(Date.UTC(2024, 0, weekday)));
}

interface ScheduleFieldProps {
  value: ScheduleView | null;
  onValue: (value: ScheduleView | null) => void;
}

type Kind = "nightly" | Every | "cron";

/** Chooses a schedule; the service computes its next times while it is edited. */
export function ScheduleField({ value, onValue }: ScheduleFieldProps) {
  const choice = value && fromCron(value.cron);
  const [isCron, setCron] = useState(value !== null && !choice);
  const kind: Kind = value === null ? "nightly" : isCron || !choice ? "cron" : choice.every;
  const zone = value?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const choose = (changes: Partial<Choice>) => onValue({ cron: toCron({ ...DAILY, ...choice, ...changes }), timezone: zone });
  const chooseKind = (kind: Kind) => {
    setCron(kind === "cron");
    if (kind === "nightly") onValue(null);
    else if (kind === "cron") onValue({ cron: value?.cron ?? toCron(DAILY), timezone: zone });
    else choose({ every: kind });
  };
  const kinds: Kind[] = ["nightly", "hour", "day", "week", "month", "cron"];
  const labelOf = (name: Kind) => name === "nightly" ? crawl().nightly : name === "cron" ? crawl().byCron : crawl().everys[name];
  const next = useNextTimes(value);
  return (
    <div class="schedule-field">
      <div class="form-grid">
        <SelectField label={crawl().schedule} value={kind} onValue={chooseKind} options={kinds.map((name) => ({ value: name, label: labelOf(name) }))} />
        {kind === "week" && choice && (
          <SelectField label={crawl().weekday} value={String(choice.weekday)} onValue={(day) => choose({ weekday: Number(day) })}
            options={[1, 2, 3, 4, 5, 6, 7].map((day) => ({ value: String(day), label: weekdayName(day) }))} />
        )}
        {kind === "month" && choice && (
          <TextField label={crawl().day} type="number" min={1} max={31} value={String(choice.day)} onValue={(day) => choose({ day: clamp(day, 1, 31) })} />
        )}
        {kind === "hour" && choice && (
          <TextField label={crawl().minute} type="number" min={0} max={59} value={String(choice.minute)} onValue={(minute) => choose({ minute: clamp(minute, 0, 59) })} />
        )}
        {["day", "week", "month"].includes(kind) && choice && (
          <TextField label={crawl().at} {...({ type: "time" } as object)} value={`${two(choice.hour)}:${two(choice.minute)}`}
            onValue={(time) => {
              const [hour, minute] = time.split(":").map(Number);
              if (hour !== undefined && minute !== undefined) choose({ hour, minute });
            }} />
        )}
        {kind === "cron" && value && (
          <TextField label={crawl().cron} hint={crawl().cronHint} value={value.cron} error={fieldError(next.error, "cron")}
            onValue={(cron) => onValue({ cron, timezone: zone })} />
        )}
        {value && (
          <TextField label={crawl().timezone} value={zone} error={fieldError(next.error, "timezone")} onValue={(timezone) => onValue({ cron: value.cron, timezone })} />
        )}
      </div>
      {next.data && <Times next={next.data.next} />}
    </div>
  );
}

/** The next times of a schedule; null: of the nightly round. */
export function NextTimes({ schedule }: { schedule: ScheduleView | null }) {
  const { data } = useNextTimes(schedule);
  return data ? <Times next={data.next} /> : null;
}

function Times({ next }: { next: readonly string[] }) {
  if (!next.length) return null;
  return <p class="hint">{crawl().nextTimes}: {next.map((time) => appointment(new Date(time))).join(" · ")}. {crawl().spread}</p>;
}

function clamp(text: string, least: number, most: number): number {
  return Math.min(most, Math.max(least, Math.trunc(Number(text)) || least));
}

/** The next times of a schedule, once typing rests; of null, those of the nightly round. */
function useNextTimes(value: ScheduleView | null) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 300);
    return () => clearTimeout(timer);
  }, [value?.cron, value?.timezone]);
  return useResource(
    (signal) => settled === null ? api.get("/api/schedules/nightly", { signal }) : api.get("/api/schedules/next", { query: settled, signal }),
    [settled],
  );
}
