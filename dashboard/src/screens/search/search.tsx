/** The search playground: a query, the filter, one or two settings, and why each hit is there. */

import type { SearchHits } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { readQuery, setQuery } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { EmptyState } from "../../components/states.tsx";
import { useResource, type Resource } from "../../live/resource.ts";
import { CodeDialog } from "./code-dialog.tsx";
import { JudgementSetCard, useJudgements } from "./judgements.tsx";
import { search } from "./messages.ts";
import { QueryForm } from "./query-form.tsx";
import { Results } from "./results.tsx";
import { howOf, requestOf, SEARCH, type How, type What } from "./settings.ts";

export function Search() {
  const values = readQuery(SEARCH);
  const what = values as What;
  const isComparing = values.compare === "true";
  const first = useSearch(what, howOf(values, "first"));
  const second = useSearch(isComparing ? what : {}, howOf(values, "second"));
  const judgements = useJudgements(what, typeof values.set === "string" ? values.set : undefined);
  const [isCopying, setCopying] = useState(false);
  return (
    <ScreenFrame title={search().title} actions={what.q && (
      <>
        <Button icon="copy" onClick={() => setCopying(true)}>{search().copyAs}</Button>
        <Button onClick={() => setQuery({ compare: isComparing ? undefined : "true" })}>{isComparing ? search().single : search().compare}</Button>
      </>
    )}>
      <QueryForm values={values} errors={[first.error, second.error]} isComparing={isComparing} />
      {!what.q && <EmptyState icon="search" title={search().start}><p>{search().startText}</p></EmptyState>}
      {what.q && (
        <>
          <div class={isComparing ? "columns" : ""}>
            <Results {...first} what={what} judgements={judgements} title={isComparing ? search().columnA : undefined} column="first" />
            {isComparing && <Results {...second} what={what} judgements={judgements} title={search().columnB} column="second" before={first.data} />}
          </div>
          <JudgementSetCard judgements={judgements} />
        </>
      )}
      {isCopying && <CodeDialog request={requestOf(what, howOf(values, "first"))} onClose={() => setCopying(false)} />}
    </ScreenFrame>
  );
}

/** An answer for these settings; nothing is asked without a query. */
function useSearch(what: What, how: How): Resource<SearchHits | undefined> {
  const request = requestOf(what, how);
  return useResource<SearchHits | undefined>(
    async (signal) => (what.q ? await api.post("/api/search", { body: { ...request, explain: true }, signal }) : undefined),
    [request],
  );
}
