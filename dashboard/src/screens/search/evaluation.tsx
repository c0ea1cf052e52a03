/** How well searches find what was judged to be the answer: one setting, or two side by side. */

import { ApiError, type EvaluationRequest, type EvaluationView, type JudgementSet } from "@rag-ingest/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { href, integer, readQuery, setQuery } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/fields.tsx";
import { Card, ScreenFrame } from "../../components/layout.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { number } from "../../messages/format.ts";
import { EvaluationResults } from "./evaluation-results.tsx";
import { HowFields } from "./how-fields.tsx";
import { Exports } from "./judgements.tsx";
import { search } from "./messages.ts";
import { QuestionList } from "./question-list.tsx";
import { asQuery, howOf, requestOf, SEARCH, type How, type Values } from "./settings.ts";

/** As many as the service gives at once. */
const MOST_SETS = 200;

export function Evaluation() {
  const { data, error, refresh } = useResource((signal) => api.get("/api/judgement-sets", { query: { limit: MOST_SETS }, signal }), []);
  const values = readQuery(SEARCH);
  const sets = data?.items;
  const set = sets?.find(({ name }) => name === (values.set ?? "default")) ?? (values.set === undefined ? sets?.[0] : undefined);
  return (
    <ScreenFrame title={search().evaluation} lead={search().evaluationText}>
      {error !== undefined && <ErrorCard error={error} onRetry={refresh} />}
      {error === undefined && !sets && <Skeleton />}
      {sets && sets.length > 0 && <SetCard sets={sets} chosen={set} onDeleted={refresh} />}
      {sets && !set && (
        <EmptyState icon="evaluation" title={search().nothingJudged}>
          <p>{search().nothingJudgedText}</p>
          <LinkButton kind="primary" icon="search" href={href("/search", { set: values.set as string | undefined })}>{search().title}</LinkButton>
        </EmptyState>
      )}
      {set && (
        <>
          <Run key={set.name} set={set} values={values} />
          <QuestionList key={`questions ${set.name}`} set={set.name} onChanged={refresh} />
        </>
      )}
    </ScreenFrame>
  );
}

function SetCard({ sets, chosen, onDeleted }: { sets: readonly JudgementSet[]; chosen: JudgementSet | undefined; onDeleted: () => void }) {
  const [isDeleting, setDeleting] = useState(false);
  const options = [...(chosen ? [] : [{ value: "", label: "" }]), ...sets.map(({ name }) => ({ value: name, label: name }))];
  return (
    <Card>
      <div class="set-line">
        <SelectField label={search().set} value={chosen?.name ?? ""} options={options}
          onValue={(name) => setQuery({ set: name === "default" ? undefined : name, cursor: undefined })} />
        {chosen && (
          <>
            <p class="lead">{search().setCounts(number(chosen.questionCount), number(chosen.judgementCount), number(chosen.relevantCount))}</p>
            <div class="actions">
              <Exports set={chosen.name} />
              {may("editor") && <Button icon="trash" onClick={() => setDeleting(true)}>{search().deleteSet}</Button>}
            </div>
          </>
        )}
      </div>
      {chosen && isDeleting && (
        <ConfirmDialog title={search().deleteSetOf(chosen.name)} action={search().deleteJudgements(chosen.judgementCount, number(chosen.judgementCount))} isDangerous onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await api.delete("/api/judgement-sets/{name}", { path: { name: chosen.name } });
            setQuery({ set: undefined });
            onDeleted();
          }}>
          <p>{search().cannotBeUndone}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

interface Done {
  request: EvaluationRequest;
  hows: readonly How[];
  answer: EvaluationView;
}

const COUNTS = [20, 50, 100, 200];

function Run({ set, values }: { set: JudgementSet; values: Values }) {
  const { questions = 100 } = readQuery({ questions: integer });
  const isComparing = values.compare === "true";
  const [hows, setHows] = useState(() => howsOf(values));
  const inAddress = JSON.stringify(values);
  useEffect(() => setHows(howsOf(values)), [inAddress]);
  const [running, setRunning] = useState<AbortController>();
  const [error, setError] = useState<unknown>();
  const [done, setDone] = useState<Done>();
  const latest = useRef(running);
  latest.current = running;
  useEffect(() => () => latest.current?.abort(), []);

  const asked = isComparing ? hows : hows.slice(0, 1);
  const request: EvaluationRequest = { settings: asked.map(settingsOf), questions };
  const isSame = isComparing && JSON.stringify(request.settings[0]) === JSON.stringify(request.settings[1]);
  const evaluate = async () => {
    const controller = new AbortController();
    setRunning(controller);
    setError(undefined);
    setQuery({ ...asQuery(hows[0]!, "first"), ...(isComparing && asQuery(hows[1]!, "second")) }, { replace: true });
    try {
      const answer = await api.post("/api/judgement-sets/{name}/evaluate", { path: { name: set.name }, body: request, signal: controller.signal });
      setDone({ request, hows: asked, answer });
    } catch (failure) {
      if (!controller.signal.aborted) setError(failure);
    }
    setRunning(undefined);
  };
  const change = (at: number) => (how: How) => setHows(hows.with(at, how));
  const counts = [...new Set([...COUNTS, questions])].sort((a, b) => a - b).map((count) => ({ value: String(count), label: number(count) }));
  return (
    <>
      <form class={isComparing ? "stack wide" : "stack"} noValidate onSubmit={(event) => {
        event.preventDefault();
        void evaluate();
      }}>
        <div class={isComparing ? "columns" : ""}>
          {asked.map((how, at) => (
            <Card key={at} title={isComparing ? [search().columnA, search().columnB][at]! : search().ranking}>
              <HowFields how={how} hasMode onChange={change(at)} onChoose={change(at)} error={errorOf(error, at)} />
            </Card>
          ))}
        </div>
        <div class="set-line">
          <SelectField label={search().mostQuestions} value={String(questions)} options={counts} onValue={(count) => setQuery({ questions: count === "100" ? undefined : count })} />
          <Button kind="primary" type="submit" icon="play" isBusy={running !== undefined} disabled={isSame}>{search().evaluate}</Button>
          <Button onClick={() => setQuery({ compare: isComparing ? undefined : "true" })}>{isComparing ? search().single : search().compare}</Button>
          {running && <Button onClick={() => running.abort()}>{search().stop}</Button>}
        </div>
        {isSame && <p class="hint">{search().sameSettings}</p>}
      </form>
      {running && <p role="status">{search().evaluating}</p>}
      {error !== undefined && <ErrorCard error={error} onRetry={evaluate} />}
      {done && (
        <>
          {JSON.stringify(done.request) !== JSON.stringify(request) && <p class="hint">{search().earlierSettings}</p>}
          <EvaluationResults answer={done.answer} hows={done.hows} set={set.name} />
        </>
      )}
    </>
  );
}

function howsOf(values: Values): How[] {
  return [howOf(values, "first"), howOf(values, "second")];
}

function settingsOf(how: How): EvaluationRequest["settings"][number] {
  const { query: _, ...settings } = requestOf({}, how);
  return settings;
}

/** What the service says of one of the settings. */
function errorOf(error: unknown, at: number): unknown {
  const isAbout = error instanceof ApiError && error.errors.some(({ field }) => field.startsWith(`body.settings.${at}.`));
  return isAbout ? error : undefined;
}
