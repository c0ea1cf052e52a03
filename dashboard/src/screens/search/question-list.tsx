/** The questions that were judged, and what was judged of each. */

import type { Judgement, QuestionView } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import { Card } from "../../components/layout.tsx";
import { Pager } from "../../components/pager.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { Count, Name, Time } from "../../components/text.tsx";
import { attempt } from "../../components/toasts.tsx";
import { useList } from "../../live/list.ts";
import { useResource } from "../../live/resource.ts";
import { sameFilter } from "./judged.ts";
import { search } from "./messages.ts";
import { whatOf } from "./settings.ts";

export function QuestionList({ set, onChanged }: { set: string; onChanged: () => void }) {
  const [shown, setShown] = useState<QuestionView>();
  const list = useList({
    load: (cursor, signal) => api.get("/api/judgement-sets/{name}/questions", { path: { name: set }, query: { cursor, limit: 25 }, signal }),
    dependencies: [set],
    keyOf,
  });
  const columns: Column<QuestionView>[] = [
    { key: "query", title: search().question, isMain: true, cell: ({ query, filter }) => <><Name>{query}</Name>{filter && <small> {search().withFilter}</small>}</> },
    { key: "relevant", title: search().relevantCount, isNumber: true, cell: ({ relevantCount }) => <Count value={relevantCount} /> },
    { key: "judgements", title: search().judgements, isNumber: true, cell: (row) => <Button kind="quiet" onClick={() => setShown(row)} aria-label={search().judgementsOf(row.query)}><Count value={row.judgementCount} /></Button> },
    { key: "judged", title: search().lastJudged, isOptional: true, cell: ({ judgedAt }) => <Time value={judgedAt} /> },
  ];
  return (
    <Card title={search().judgedQuestions}>
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton lines={4} />}
      {list.rows && (
        <DataTable caption={search().judgedQuestions} columns={columns} rows={list.rows} keyOf={keyOf}
          hrefOf={({ query, filter }) => href("/search", { ...whatOf(query, filter), set: set === "default" ? undefined : set })} />
      )}
      <Pager list={list} />
      {shown && (
        <JudgementsDialog set={set} question={shown} onClose={() => setShown(undefined)} onChanged={() => {
          list.reload();
          onChanged();
        }} />
      )}
    </Card>
  );
}

function keyOf({ query, filter }: QuestionView): string {
  return JSON.stringify([query, filter]);
}

interface DialogProps {
  set: string;
  question: QuestionView;
  onClose: () => void;
  onChanged: () => void;
}

function JudgementsDialog({ set, question: { query, filter }, onClose, onChanged }: DialogProps) {
  const { data, error, refresh, set: show } = useResource(async (signal) => {
    const { items } = await api.get("/api/judgements", { query: { set, query, limit: 200 }, signal });
    return items.filter((one) => sameFilter(one.filter, filter));
  }, [set, query, filter]);
  const takeBack = (judgement: Judgement) => attempt(async () => {
    await api.delete("/api/judgements/{id}", { path: { id: judgement.id } });
    show(data!.filter(({ id }) => id !== judgement.id));
    onChanged();
  });
  return (
    <Dialog title={search().judgementsOf(query)} onClose={onClose} isWide>
      {error !== undefined && <ErrorCard error={error} onRetry={refresh} />}
      {error === undefined && !data && <Skeleton lines={3} />}
      {data?.length === 0 && <p>{search().emptySet}</p>}
      <ul class="judgement-list">
        {data?.map((one) => (
          <li key={one.id}>
            <Icon name={one.grade > 0 ? "thumbUp" : "thumbDown"} />
            <div>
              <p><strong>{search().grades(one.grade)}</strong> <q dir="auto">{one.quote}</q></p>
              <p class="lead">
                {one.documentId ? <a href={href(`/documents/${one.documentId}`)}><Name>{one.uri}</Name></a> : <><Name>{one.uri}</Name> ({search().documentGone})</>}
                {one.page !== null && <> · {search().page(one.page, null)}</>} · {search().judgedBy(one.judgedBy)} · <Time value={one.judgedAt} />
              </p>
            </div>
            {may("editor") && <Button kind="quiet" icon="trash" onClick={() => takeBack(one)}>{search().takeBack}</Button>}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
