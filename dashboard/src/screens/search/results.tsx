/** The hits of one setting. */

import { ApiError, type SearchHits } from "@rag-ingest/client";
import { setQuery } from "../../app/router.ts";
import { Button } from "../../components/button.tsx";
import { Detail, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Icon } from "../../components/icon.tsx";
import type { Resource } from "../../live/resource.ts";
import { errorText, saysEnglish } from "../../messages/errors.ts";
import { duration } from "../../messages/format.ts";
import { HitCard } from "./hit-card.tsx";
import type { Judgements } from "./judgements.tsx";
import { search } from "./messages.ts";
import { goneFrom, movesOf } from "./moves.ts";
import { NoHits } from "./no-hits.tsx";
import type { What } from "./settings.ts";
import { Summary } from "./summary.tsx";

interface ResultsProps extends Resource<SearchHits | undefined> {
  what: What;
  judgements: Judgements;
  title: string | undefined;
  column: "first" | "second";
  /** The answer that it is compared with. */
  before?: SearchHits | undefined;
}

export function Results({ data, error, isLoading, refresh, what, judgements, title, column, before }: ResultsProps) {
  const moves = data && before && movesOf(data.hits, before.hits);
  return (
    <section class="results" aria-busy={isLoading} aria-labelledby={`results-${column}`}>
      <h2 id={`results-${column}`} class={title ? "" : "visually-hidden"}>{title ?? search().results}</h2>
      {error !== undefined && <ErrorCard error={error} {...(!isRefused(error) && { onRetry: refresh })} />}
      {isLoading && <Skeleton lines={6} />}
      {data && (
        <>
          <Notes answer={data} />
          <p class="result-line" role="status">
            <strong>{search().hits(data.hits.length)}</strong>
            {data.explanation && ` ${search().took(duration(data.explanation.milliseconds.total ?? 0))}`}
            {before && goneFrom(before.hits, data.hits) > 0 && ` · ${search().gone(goneFrom(before.hits, data.hits))}`}
          </p>
          {data.explanation && <Summary explanation={data.explanation} />}
          {data.hits.length === 0 && <NoHits answer={data} what={what} column={column} />}
          <ol class="hits">
            {data.hits.map((hit, at) => (
              <HitCard key={hit.chunkId} hit={hit} place={at + 1} searchedBy={data.explanation?.searchedBy} why={data.explanation?.hits[at]} move={moves?.get(hit.chunkId)} judgements={judgements} />
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

/** What is asked must be changed: the fields say how. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status === 422;
}

function Notes({ answer }: { answer: SearchHits }) {
  const notes = [
    ...(answer.degraded?.length ? [[search().degraded, answer.degradedReason] as const] : []),
    ...(answer.reranked === false ? [[search().notReranked, answer.rerankReason] as const] : []),
  ];
  return notes.map(([title, reason]) => (
    <div key={title} class="note warning"><Icon name="warning" /><div><strong>{title}</strong> {reason && <Reason text={reason} />}</div></div>
  ));
}

/** `code: message` of a provider, or the message alone. */
function Reason({ text }: { text: string }) {
  const code = /^([a-z_]+): /.exec(text)?.[1];
  return <>{code !== undefined && !saysEnglish() && errorText(code).means}<Detail text={text} /></>;
}

export function WithoutFilter() {
  return <Button onClick={() => setQuery({ where: undefined, collections: undefined, sources: undefined })}>{search().withoutFilter}</Button>;
}
