/** Thumbs: judgements of hits, kept in a set by name, and undone by a second click. */

import type { Judgement, SearchFilter, SearchHit } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href, setQuery } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, IconButton, LinkButton } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Card } from "../../components/layout.tsx";
import { attempt } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { number } from "../../messages/format.ts";
import { judgementOf } from "./judged.ts";
import { search } from "./messages.ts";
import { filterOf, type What } from "./settings.ts";

export interface Judgements {
  set: string;
  query: string;
  filter: SearchFilter | undefined;
  known: readonly Judgement[];
  /** Grows with each change. */
  version: number;
  judge: (hit: SearchHit, grade: number) => Promise<void>;
  takeBack: (judgement: Judgement) => Promise<void>;
}

/** As many as the service gives at once: more hits of one query are not judged by hand. */
const MOST = 200;

export function useJudgements(what: What, set = "default"): Judgements {
  const query = what.q ?? "";
  const filter = filterOf(what);
  const [version, setVersion] = useState(0);
  const { data, set: show } = useResource(
    // A viewer of some collections only sees no judgements, and needs none.
    (signal) => (query ? api.get("/api/judgements", { query: { set, query, limit: MOST }, signal }).then(({ items }) => items, () => []) : Promise.resolve([])),
    [set, query],
  );
  const known = data ?? [];
  return {
    set, query, filter, known, version,
    judge: async (hit, grade) => {
      const judged = await api.put("/api/judgements", { body: { set, query, chunkId: hit.chunkId, grade, ...(filter && { filter }) } });
      show([judged, ...known.filter(({ id }) => id !== judged.id)]);
      setVersion(version + 1);
    },
    takeBack: async ({ id }) => {
      await api.delete("/api/judgements/{id}", { path: { id } });
      show(known.filter((one) => one.id !== id));
      setVersion(version + 1);
    },
  };
}

export function Thumbs({ hit, judgements }: { hit: SearchHit; judgements: Judgements }) {
  const [isBusy, setBusy] = useState(false);
  const judged = judgementOf(hit, judgements.filter, judgements.known);
  if (!may("editor")) {
    if (!judged) return null;
    const isRelevant = judged.grade > 0;
    return <span class="badge"><Icon name={isRelevant ? "thumbUp" : "thumbDown"} />{isRelevant ? search().judgedRelevant : search().judgedNotRelevant}</span>;
  }
  const click = (isPressed: boolean, grade: number) => async () => {
    setBusy(true);
    await attempt(() => (isPressed ? judgements.takeBack(judged!) : judgements.judge(hit, grade)));
    setBusy(false);
  };
  const isUp = judged !== undefined && judged.grade > 0;
  const isDown = judged?.grade === 0;
  return (
    <span class="thumbs">
      <IconButton icon="thumbUp" label={isUp ? search().undoRelevant : search().relevant} aria-pressed={isUp} disabled={isBusy} onClick={click(isUp, 1)} />
      <IconButton icon="thumbDown" label={isDown ? search().undoNotRelevant : search().notRelevant} aria-pressed={isDown} disabled={isBusy} onClick={click(isDown, 0)} />
    </span>
  );
}

const EXPORTS = ["jsonl", "qrels", "queries"] as const;

export function JudgementSetCard({ judgements }: { judgements: Judgements }) {
  const { set, version } = judgements;
  const [draft, setDraft] = useState(set);
  const { data, error } = useResource((signal) => api.get("/api/judgement-sets", { query: { limit: 200 }, signal }), [version]);
  if (error !== undefined) return null;
  const found = data?.items.find(({ name }) => name === set);
  return (
    <Card title={search().judgements}>
      <p class="lead">{search().judgementsText}</p>
      <form class="set-form" onSubmit={(event) => {
        event.preventDefault();
        setQuery({ set: draft.trim() === "default" ? undefined : draft.trim() });
      }}>
        <div class="field">
          <label for="judgement-set">{search().set}</label>
          <input id="judgement-set" list="judgement-sets" value={draft} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" maxLength={100} title={search().setHint} autocomplete="off" dir="ltr"
            onInput={(event) => setDraft(event.currentTarget.value)} />
          <datalist id="judgement-sets">{data?.items.map(({ name }) => <option key={name} value={name} />)}</datalist>
        </div>
        <Button type="submit" disabled={draft.trim() === set || !draft.trim()}>{search().useSet}</Button>
      </form>
      <p>{found ? search().setCounts(number(found.questionCount), number(found.judgementCount), number(found.relevantCount)) : search().emptySet}</p>
      {found && (
        <div class="actions">
          <LinkButton icon="evaluation" href={href("/evaluation", { set: set === "default" ? undefined : set })}>{search().evaluate}</LinkButton>
          <Exports set={set} />
        </div>
      )}
    </Card>
  );
}

/** Buttons. */
export function Exports({ set }: { set: string }) {
  return EXPORTS.map((format) => <Button key={format} icon="download" onClick={() => attempt(() => download(set, format))}>{search().exports[format]}</Button>);
}

/** By a request, not a link: it carries the operator's application. */
async function download(name: string, format: (typeof EXPORTS)[number]): Promise<void> {
  const answer = await api.request<Response>("GET", "/api/judgement-sets/{name}/export", { path: { name }, query: { format } });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = { jsonl: `${name}.jsonl`, qrels: `${name}.qrels`, queries: `${name}.queries.jsonl` }[format];
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
