/** Why nothing was found, as far as the service knows it, and what may help. */

import type { SearchHits } from "@rag-ingest/client";
import { href, setQuery } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { components } from "../../components/messages.ts";
import { EmptyState } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { boundedCount, number } from "../../messages/format.ts";
import { search } from "./messages.ts";
import { WithoutFilter } from "./results.tsx";
import { filterOf, type What } from "./settings.ts";

const UNREAD = ["pending", "processing", "failed"];

/** Sources that wait or have failed may be missing: those that are fetched again keep what they have. */
function Unread() {
  const { data } = useResource((signal) => api.get("/api/knowledge-sources/counts", { signal }), []);
  const some = (data?.items ?? []).filter(({ status, count }) => UNREAD.includes(status) && count > 0);
  if (!some.length) return null;
  return (
    <p>{search().unread} {some.map(({ status, count, isExact }) => (
      <span key={status}><a href={href("/sources", { status })}>{boundedCount(count, !isExact)} {components().status[status]}</a> </span>
    ))}</p>
  );
}

export function NoHits({ answer, what, column }: { answer: SearchHits; what: What; column: "first" | "second" }) {
  const { explanation } = answer;
  const isFiltered = filterOf(what) !== undefined;
  const passing = explanation?.passingDocuments ?? null;
  const below = explanation?.belowMinScore ?? 0;
  const byWordsOnly = explanation?.searchedBy.join() === "words" && !answer.degraded?.length;
  const reasons = [
    isFiltered && passing === 0 && search().nonePasses,
    isFiltered && passing !== null && passing > 0 && below === 0 && search().filterHides(passing, number(passing)),
    below > 0 && search().belowLeast(below, number(below)),
    explanation?.query?.excluded.length && search().excludedHelp(explanation.query.excluded.map((words) => `“${words}”`).join(", ")),
    explanation?.query?.phrases.length && search().phraseHelp(explanation.query.phrases.map((group) => group.map((words) => `“${words}”`).join(search().or)).join(", ")),
    byWordsOnly && search().keywordHelp,
  ].filter(Boolean) as string[];
  return (
    <EmptyState icon="search" title={search().noHits}>
      <Unread />
      {(reasons.length ? reasons : [search().nothingStored]).map((reason) => <p key={reason} dir="auto">{reason}</p>)}
      <div class="actions">
        {isFiltered && <WithoutFilter />}
        {byWordsOnly && <Button onClick={() => setQuery({ [column === "first" ? "mode" : "b.mode"]: undefined })}>{search().byMeaningToo}</Button>}
      </div>
    </EmptyState>
  );
}
