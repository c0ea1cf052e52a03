/** Job types: how many jobs of each, and within which limits they run. */

import type { JobType, JobTypePatch, JobsOfType } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { IconButton } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { Form, TextField, fieldError } from "../../components/fields.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Missing } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { boundedCount, duration, number } from "../../messages/format.ts";
import { titles } from "../../messages/titles.ts";
import { typeName } from "../jobs/words.ts";
import { admin } from "./messages.ts";
import { Providers } from "./providers.tsx";
import { numberOf, textOf } from "./shared.tsx";

/** Counts stop above it. */
const MOST = 10_000;
const EVERY = 5000;

export function JobTypes() {
  const isOperator = may("operator");
  const types = useResource((signal) => api.get("/api/job-types", { query: { limit: 200 }, signal }), []);
  const counts = useResource(
    async (signal) => isOperator ? (await api.get("/api/job-types/counts", { signal })).items : [], [isOperator], { every: isOperator ? EVERY : undefined },
  );
  const [edited, setEdited] = useState<JobType>();
  const [paused, setPaused] = useState<JobType>();
  const byType = new Map((counts.data ?? []).map((item) => [item.type, item]));
  const readyOf = ({ type }: JobType) => byType.get(type)?.ready ?? 0;
  const change = async ({ type }: JobType, isPaused: boolean) => {
    await api.patch("/api/job-types/{type}", { path: { type }, body: { isPaused } });
    toast(isPaused ? admin().typePaused(typeName(type)) : admin().typeResumed(typeName(type)));
    types.refresh();
  };
  const actions: Column<JobType> = {
    key: "actions", title: "",
    cell: (row) => (
      <div class="row-actions">
        <IconButton icon="settings" label={admin().editType(typeName(row.type))} onClick={() => setEdited(row)} />
        {row.isPaused
          ? <IconButton icon="play" label={admin().resumeType(typeName(row.type))} onClick={() => attempt(() => change(row, false))} />
          : <IconButton icon="pause" label={admin().pauseType(typeName(row.type))} onClick={() => setPaused(row)} />}
      </div>
    ),
  };
  return (
    <ScreenFrame title={titles().jobTypes} lead={admin().jobTypesLead}>
      {types.error !== undefined && <ErrorCard error={types.error} onRetry={types.refresh} />}
      {counts.error !== undefined && <ErrorCard error={counts.error} onRetry={counts.refresh} />}
      {types.isLoading && <Skeleton />}
      {types.data && (
        <DataTable caption={admin().jobTypes} rows={types.data.items} keyOf={({ type }) => type}
          columns={[...columns(), ...(isOperator ? [...countColumns(byType), actions] : [])]} />
      )}
      {isOperator && <Providers />}
      {edited && (
        <Edit row={edited} onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            toast(admin().saved);
            types.refresh();
          }} />
      )}
      {paused && (
        <ConfirmDialog title={admin().pauseTitle(typeName(paused.type), readyOf(paused), shown(readyOf(paused)))} action={admin().pause}
          onConfirm={() => change(paused, true)} onClose={() => setPaused(undefined)}>
          <p>{admin().pauseText}</p>
        </ConfirmDialog>
      )}
    </ScreenFrame>
  );
}

function shown(count: number): string {
  return boundedCount(Math.min(count, MOST), count > MOST);
}

function columns(): Column<JobType>[] {
  const limit = (value: number | null) => value === null ? admin().noLimit : number(value);
  return [
    { key: "type", title: admin().type, isMain: true, cell: ({ type }) => <><span>{typeName(type)}</span> <small><code>{type}</code></small></> },
    { key: "state", title: admin().state, cell: ({ isEnabled, isPaused }) => <State isEnabled={isEnabled} isPaused={isPaused} /> },
    { key: "most", title: admin().most, isNumber: true, cell: ({ maxConcurrent }) => limit(maxConcurrent) },
    { key: "rate", title: admin().rate, isNumber: true, cell: ({ ratePerMinute }) => limit(ratePerMinute) },
    { key: "attempts", title: admin().attempts, isNumber: true, isOptional: true, cell: ({ maxAttempts }) => number(maxAttempts) },
    { key: "timeout", title: admin().timeout, isNumber: true, isOptional: true, cell: ({ timeoutSeconds }) => duration(timeoutSeconds * 1000) },
  ];
}

function State({ isEnabled, isPaused }: Pick<JobType, "isEnabled" | "isPaused">) {
  if (!isEnabled) return <Badge tone="neutral" icon="minus">{admin().disabled}</Badge>;
  return isPaused ? <Badge tone="warning" icon="pause">{admin().paused}</Badge> : <Badge tone="good" icon="play">{admin().on}</Badge>;
}

function countColumns(counts: ReadonlyMap<string, JobsOfType>): Column<JobType>[] {
  const cell = (show: (item: JobsOfType) => preact.ComponentChildren) => ({ type }: JobType) => {
    const item = counts.get(type);
    return item ? show(item) : <Missing />;
  };
  return [
    {
      key: "ready", title: admin().ready, isNumber: true,
      cell: cell((item) => <span title={item.oldestSeconds === null ? undefined : admin().oldest(duration(item.oldestSeconds * 1000))}>{shown(item.ready)}</span>),
    },
    { key: "running", title: admin().running, isNumber: true, cell: cell((item) => <>{shown(item.processing)}{item.overdue > 0 && <div>{admin().overdue(shown(item.overdue))}</div>}</>) },
    {
      key: "failed", title: admin().failed, isNumber: true,
      cell: cell((item) => item.failed > 0 ? <a href={href("/jobs", { status: "failed", type: item.type })}>{shown(item.failed)}</a> : shown(0)),
    },
  ];
}

const FIELDS = [
  ["maxConcurrent", "most", "mostHint"], ["ratePerMinute", "rate", "rateHint"], ["maxAttempts", "attempts", undefined],
  ["timeoutSeconds", "timeout", "timeoutHint"], ["stageTimeoutSeconds", "stageTimeout", "stageTimeoutHint"],
  ["backoffBaseSeconds", "backoffBase", "backoffHint"], ["backoffCapSeconds", "backoffCap", "backoffHint"],
] as const;
type Field = (typeof FIELDS)[number][0];

function Edit({ row, onSaved, onClose }: { row: JobType; onSaved: () => void; onClose: () => void }) {
  const [values, setValues] = useState(() => Object.fromEntries(FIELDS.map(([name]) => [name, textOf(row[name])])) as Record<Field, string>);
  const save = async () => {
    const changed = FIELDS.filter(([name]) => values[name] !== textOf(row[name]));
    const body: JobTypePatch = Object.fromEntries(changed.map(([name]) => [name, numberOf(values[name])]));
    await api.patch("/api/job-types/{type}", { path: { type: row.type }, body });
    onSaved();
  };
  return (
    <Dialog title={admin().editType(typeName(row.type))} onClose={onClose} isWide>
      <Form submit={admin().save} onSubmit={save} fields={FIELDS.map(([name]) => name)}>
        {(error) => (
          <div class="form-grid">
            {FIELDS.map(([name, label, hint]) => (
              <TextField key={name} label={admin()[label]} {...(hint && { hint: admin()[hint] })} type="number" {...({ step: "any" } as object)} value={values[name]}
                error={fieldError(error, name)} onValue={(value) => setValues({ ...values, [name]: value })} />
            ))}
          </div>
        )}
      </Form>
    </Dialog>
  );
}
