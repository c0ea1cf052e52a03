/** What ended over the last hour, day or week, by outcome. */

import { oneOf, readQuery, setQuery } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { StackedBars, type Series } from "../../components/charts.tsx";
import { Problem } from "../../components/fields.tsx";
import { Card, KeyValues } from "../../components/layout.tsx";
import { Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { bytes, compact, number } from "../../messages/format.ts";
import { language } from "../../messages/language.ts";
import { overview } from "./messages.ts";
import { barsOf, MEASURES, OUTCOMES, RANGES, STEPS, tallest, total, type Measure, type Outcome, type Range } from "./series.ts";

/** Workers write every ten seconds. */
const EVERY = 10_000;
const TONES: Record<Outcome, Series["tone"]> = { completed: "good", review_needed: "active", retry: "warning", failed: "bad" };
const RANGE_NAMES = Object.keys(RANGES) as Range[];

export function Throughput() {
  const { range = "24h", measure = "jobs" } = readQuery({ range: oneOf(RANGE_NAMES), measure: oneOf(MEASURES) });
  const { data, error } = useResource(
    (signal) => api.get("/api/activity", { query: { from: new Date(Date.now() - RANGES[range]).toISOString(), step: STEPS[range] }, signal }),
    [range],
    { every: EVERY },
  );
  return (
    <Card title={overview().throughput} actions={<Choices range={range} measure={measure} />}>
      {error !== undefined && <Problem error={error} />}
      {data === undefined ? error === undefined && <Skeleton lines={4} /> : (
        <>
          <Chart view={data} range={range} measure={measure} />
          <KeyValues items={(["files", "pages", "tokens", "bytes"] as const).map((name) => [overview().sums[name], amount(total(data.items, name, "completed"), name)])} />
        </>
      )}
    </Card>
  );
}

function Choices({ range, measure }: { range: Range; measure: Measure }) {
  return (
    <>
      <select aria-label={overview().measure} value={measure} onChange={(event) => setQuery({ measure: event.currentTarget.value === "jobs" ? undefined : event.currentTarget.value }, { replace: true })}>
        {MEASURES.map((name) => <option key={name} value={name}>{overview().measures[name]}</option>)}
      </select>
      <div class="choices" role="group" aria-label={overview().range}>
        {RANGE_NAMES.map((name) => (
          <button key={name} type="button" aria-pressed={name === range} onClick={() => setQuery({ range: name === "24h" ? undefined : name }, { replace: true })}>
            {overview().ranges[name]}
          </button>
        ))}
      </div>
    </>
  );
}

function Chart({ view, range, measure }: { view: Parameters<typeof barsOf>[0]; range: Range; measure: Measure }) {
  const bars = barsOf(view, measure);
  const shown = OUTCOMES.filter((outcome) => outcome === "completed" || bars.values[outcome].some((value) => value > 0));
  const parts = (values: (outcome: Outcome) => number) =>
    shown.map((outcome) => overview().part(amount(values(outcome), measure), overview().outcomes[outcome])).join(", ");
  const top = tallest(bars);
  const time = timeFormat(range);
  return (
    <>
      <StackedBars label={overview().chart(overview().ranges[range], overview().measures[measure], parts((outcome) => total(view.items, measure, outcome)))}
        series={shown.map((outcome) => ({ label: overview().outcomes[outcome], tone: TONES[outcome], values: bars.values[outcome] }))}
        titles={bars.starts.map((start, i) => overview().bar(time.format(start), parts((outcome) => bars.values[outcome][i]!)))}
        top={top > 0 ? short(top, measure) : ""} axis={ticks(bars.starts).map((start) => time.format(start))} />
      {top === 0 && <p class="hint">{overview().quiet}</p>}
    </>
  );
}

function ticks(starts: readonly number[]): number[] {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => starts[Math.round(share * (starts.length - 1))]!);
}

function timeFormat(range: Range): Intl.DateTimeFormat {
  const day = range === "7d" ? { weekday: "short" as const } : {};
  return new Intl.DateTimeFormat(language.value, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...day });
}

function amount(value: number, measure: Measure): string {
  return measure === "bytes" ? bytes(value) : number(value);
}

function short(value: number, measure: Measure): string {
  return measure === "bytes" ? bytes(value) : compact(value);
}
