/** What an evaluation found: each measure with its interval, and each question. */

import type { EvaluationView, Mean } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { Icon } from "../../components/icon.tsx";
import { Card } from "../../components/layout.tsx";
import { Badge } from "../../components/status.tsx";
import { Name } from "../../components/text.tsx";
import { errorText } from "../../messages/errors.ts";
import { decimal, number } from "../../messages/format.ts";
import { MAIN, measuresOf, nameOf, rowsOf, verdictOf, type Row } from "./measures.ts";
import { search } from "./messages.ts";
import { asQuery, whatOf, type How } from "./settings.ts";

interface ResultsProps {
  answer: EvaluationView;
  /** The settings of the runs. */
  hows: readonly How[];
  set: string;
}

export function EvaluationResults({ answer, hows, set }: ResultsProps) {
  const { runs, asked, questionCount, stoppedBy } = answer;
  const isComparing = runs.length > 1;
  const difference = runs[1]?.differences?.[MAIN];
  const degraded = runs.reduce((sum, run) => sum + run.degraded, 0);
  return (
    <Card title={search().result}>
      {difference && <p class="verdict" role="status">{search().verdicts[verdictOf(difference)](signed(difference.mean), signed(difference.low), signed(difference.high))}</p>}
      <p class="lead" role={difference ? undefined : "status"}>{search().asked(asked, number(asked), number(questionCount), asked < questionCount)} {search().unjudged}</p>
      {stoppedBy !== null && <Note title={search().stopped} reason={errorText(stoppedBy).means} />}
      {degraded > 0 && <Note title={search().degraded} reason={search().degradedSearches(degraded, number(degraded))} />}
      <div class="table-frame is-wide" tabIndex={0}>
        <table class="measures">
          <caption class="visually-hidden">{search().result}</caption>
          <thead>
            <tr>
              <th scope="col">{search().measure}</th>
              {runs.map((_, at) => <th key={at} scope="col">{isComparing ? [search().columnA, search().columnB][at] : search().mean}</th>)}
              {isComparing && <th scope="col">{search().difference}</th>}
            </tr>
          </thead>
          <tbody>
            {measuresOf(answer).map((name) => (
              <tr key={name}>
                <th scope="row">{nameOf(name)} <small>{meaningOf(name)}</small></th>
                {runs.map((run, at) => <td key={at}><Measured value={run.measures[name]!} /></td>)}
                {isComparing && <td><Difference value={runs[1]!.differences![name]!} /></td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h3>{search().byQuestion}</h3>
      <DataTable caption={search().byQuestion} columns={columns(isComparing)} rows={rowsOf(answer)} keyOf={({ query, filter }) => JSON.stringify([query, filter])}
        hrefOf={(row) => href("/search", inSearch(row, hows, set))} />
    </Card>
  );
}

/** `recall@5`: what it counts, at which depth. */
function meaningOf(measure: string): string | undefined {
  const [kind, depth = ""] = measure.split("@");
  return search().measures[kind!]?.(depth);
}

function Note({ title, reason }: { title: string; reason: string }) {
  return <p class="note warning"><Icon name="warning" /><span><strong>{title}</strong> {reason}</span></p>;
}

function Measured({ value: { mean, low, high } }: { value: Mean }) {
  return (
    <span class="measured">
      <strong>{decimal(mean, 3)}</strong>
      <Interval mean={mean} low={low} high={high} />
      <small>{search().interval(decimal(low, 2), decimal(high, 2))}</small>
    </span>
  );
}

/** From 0 to 1; the figures are beside it. */
function Interval({ mean, low, high }: Mean) {
  return (
    <svg class="interval" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="range" x={100 * low} y={3} width={Math.max(1, 100 * (high - low))} height={2} />
      <rect class="mean" x={Math.max(0, 100 * mean - 1)} y={0} width={2} height={8} />
    </svg>
  );
}

function Difference({ value }: { value: Mean }) {
  const verdict = verdictOf(value);
  const tone = ({ better: "good", worse: "bad", unsure: "neutral" } as const)[verdict];
  return (
    <span class="measured">
      <strong>{signed(value.mean)}</strong>
      <Badge tone={tone}>{search().verdictNames[verdict]}</Badge>
      <small>{search().interval(signed(value.low), signed(value.high))}</small>
    </span>
  );
}

function signed(value: number): string {
  const text = decimal(Math.abs(value), 3);
  if (Number(Math.abs(value).toFixed(3)) === 0) return text;
  return value > 0 ? `+${text}` : `−${text}`;
}

function columns(isComparing: boolean): Column<Row>[] {
  const ofRun = (at: number, title: string): Column<Row> => ({ key: String(at), title, isNumber: true, cell: ({ values }) => decimal(values[at]!, 3) });
  return [
    { key: "query", title: search().question, isMain: true, cell: ({ query, filter }) => <><Name>{query}</Name>{filter && <small> {search().withFilter}</small>}</> },
    ofRun(0, isComparing ? `${nameOf(MAIN)} ${search().columnA}` : nameOf(MAIN)),
    ...(isComparing ? [
      ofRun(1, `${nameOf(MAIN)} ${search().columnB}`),
      { key: "change", title: search().difference, isNumber: true, cell: ({ change }: Row) => signed(change!) },
    ] : []),
  ];
}

/** The question as a search with the settings that were evaluated. */
function inSearch({ query, filter }: Row, hows: readonly How[], set: string) {
  return {
    ...whatOf(query, filter), set: set === "default" ? undefined : set, limit: 20, ...asQuery(hows[0]!, "first"),
    ...(hows[1] && { compare: "true", ...asQuery(hows[1], "second") }),
  };
}
