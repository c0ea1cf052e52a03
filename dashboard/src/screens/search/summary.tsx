/** How it was searched: time of each step, settings in effect, what was left out. */

import type { SearchExplanation } from "@rag-ingest/client";
import { KeyValues } from "../../components/layout.tsx";
import { decimal, duration, number, percent } from "../../messages/format.ts";
import { search } from "./messages.ts";

const STEPS = ["embed", "filter", "vectors", "words", "fuse", "load", "rerank", "explain", "total"] as const;

export function Summary({ explanation }: { explanation: SearchExplanation }) {
  const { embeddingModel: model, weights, statistics, query, milliseconds } = explanation;
  const leftOut = [
    explanation.collapsed > 0 && search().collapsed(number(explanation.collapsed)),
    explanation.beyondPerDocument > 0 && search().beyond(number(explanation.beyondPerDocument)),
    explanation.belowMinScore > 0 && search().below(number(explanation.belowMinScore)),
  ].filter(Boolean).join(" · ");
  const isAsked = { rerank: explanation.rerankCandidates !== null } as Record<string, boolean>;
  const steps = STEPS.filter((step) => (milliseconds[step] ?? 0) > 0 && isAsked[step] !== false);
  return (
    <details class="summary">
      <summary>{search().searchedHow}</summary>
      <table>
        <caption>{search().timing}</caption>
        <tbody>
          {steps.map((step) => (
            <tr key={step}>
              <th scope="row">{search().steps[step]}</th>
              <td class="number">{milliseconds[step]! < 10 ? `${decimal(milliseconds[step]!, 1)} ms` : duration(milliseconds[step]!)}</td>
              <td><meter value={milliseconds[step]!} max={Math.max(...steps.map((one) => milliseconds[one]!))} aria-label={search().steps[step]!} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      <KeyValues items={[
        [search().model, model && `${model.provider}/${model.name} (${number(model.dimension)})`],
        [search().shares, weights && search().sharesOf(percent(100 * weights.vector), percent(100 * weights.keyword))],
        [search().statistics, statistics && search().statisticsOf(number(Math.round(statistics.chunks)), number(statistics.sampled))],
        [search().languages, statistics && (statistics.languages.join(", ") || search().noLanguages)],
        [search().readAs, query && <span dir="auto">{query.words.join(" · ")}</span>],
        [search().phrases, query?.phrases.length ? <span dir="auto">{query.phrases.map((group) => group.join(search().or)).join(", ")}</span> : null],
        [search().excluded, query?.excluded.length ? <span dir="auto">{query.excluded.join(", ")}</span> : null],
        [search().passing, explanation.passingDocuments !== null ? number(explanation.passingDocuments) : null],
        [search().found, search().foundBy(number(explanation.foundByVectors), number(explanation.foundByWords))],
        [search().leftOut, leftOut || search().nothing],
      ]} />
    </details>
  );
}
