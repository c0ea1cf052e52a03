/** What is fetched again, when, and how the last run ended. */

import type { ScheduledSource } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Card, KeyValues, ScreenFrame } from "../../components/layout.tsx";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Missing, Name, Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useList } from "../../live/list.ts";
import { useResource } from "../../live/resource.ts";
import { reasonText } from "../../messages/errors.ts";
import { appointment } from "../../messages/format.ts";
import { crawl } from "../crawl/messages.ts";
import { scheduleInWords } from "../crawl/schedule.tsx";
import { EditSchedule } from "../crawl/site.tsx";
import { titles } from "../../messages/titles.ts";
import { admin } from "./messages.ts";

export function Schedules() {
  const list = useList({
    load: (cursor, signal) => api.get("/api/schedules", { query: { cursor, limit: 50 }, signal }),
    dependencies: [],
    keyOf: (source: ScheduledSource) => source.id,
    every: 10_000,
  });
  const [edited, setEdited] = useState<ScheduledSource>();
  const [ended, setEnded] = useState<ScheduledSource>();
  const run = ({ id }: ScheduledSource) => attempt(async () => {
    await api.post("/api/knowledge-sources/{id}/rescrape", { path: { id }, body: {} });
    toast(admin().runStarted, { href: href(`/sites/${id}`), text: crawl().openSource });
    list.refresh();
  });
  const changed = (text: string) => {
    toast(text);
    setEdited(undefined);
    list.refresh();
  };
  const actions: Column<ScheduledSource> = {
    key: "actions", title: "",
    cell: (source) => (
      <div class="row-actions">
        <Button kind="quiet" icon="play" onClick={() => run(source)}>{admin().runNow}</Button>
        <Button kind="quiet" onClick={() => setEdited(source)}>{admin().edit}</Button>
        <Button kind="quiet" onClick={() => setEnded(source)}>{admin().turnOff}</Button>
      </div>
    ),
  };
  return (
    <ScreenFrame title={titles().schedules} lead={admin().schedulesLead}>
      <Nightly />
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {list.rows.length === 0
            ? <EmptyState icon="schedules" title={admin().noSchedules}><p>{admin().noSchedulesText}</p></EmptyState>
            : <DataTable caption={admin().schedules} rows={list.rows} keyOf={({ id }) => id} columns={[...columns(), ...(may("editor") ? [actions] : [])]} />}
          <Pager list={list} />
        </>
      )}
      {may("operator") && <TickList />}
      {edited && <EditSchedule site={edited} onDone={changed} onClose={() => setEdited(undefined)} />}
      {ended && (
        <ConfirmDialog title={admin().turnOffTitle} action={admin().turnOff} onClose={() => setEnded(undefined)}
          onConfirm={async () => {
            await api.patch("/api/knowledge-sources/{id}", { path: { id: ended.id }, body: { rescrape: null } });
            changed(crawl().scheduleSaved);
          }}>
          <p><Name>{ended.name}</Name></p>
          <p>{admin().turnOffText}</p>
        </ConfirmDialog>
      )}
    </ScreenFrame>
  );
}

function columns(): Column<ScheduledSource>[] {
  return [
    { key: "name", title: admin().source, isMain: true, cell: ({ id, name }) => <a href={href(`/sites/${id}`)}><Name>{name}</Name></a> },
    { key: "schedule", title: admin().schedule, cell: ({ rescrape }) => scheduleInWords(rescrape) },
    { key: "next", title: admin().nextRun, cell: ({ nextRescrapeAt }) => <Time value={nextRescrapeAt} /> },
    { key: "last", title: admin().lastRun, isOptional: true, cell: ({ lastRun }) => <LastRun run={lastRun} /> },
  ];
}

function LastRun({ run }: { run: ScheduledSource["lastRun"] }) {
  if (!run) return <Missing />;
  const tone = run.status === "completed" ? "good" : run.status === "failed" ? "bad" : "neutral";
  return (
    <>
      <Badge tone={tone}>{crawl().runStatus[run.status] ?? run.status}</Badge> <Time value={run.endedAt ?? run.createdAt} />
      {run.errorCode && <div title={run.errorMessage ?? undefined}>{reasonText(run.errorCode, run.errorMessage)} <code>{run.errorCode}</code></div>}
    </>
  );
}

function Nightly() {
  const nightly = useResource((signal) => api.get("/api/schedules/nightly", { signal }), []);
  if (!nightly.data) return null;
  const { schedule, next } = nightly.data;
  return (
    <Card title={admin().nightly} actions={<><a href={href("/sources", { type: "site" })}>{admin().sites}</a> <a href={href("/sources", { type: "url" })}>{admin().pages}</a></>}>
      <p>{schedule === null ? admin().nightlyOff : admin().nightlyText}</p>
      <KeyValues items={[
        [admin().schedule, schedule && scheduleInWords(schedule)],
        [admin().nextTimes, next.length > 0 ? next.map((time) => appointment(new Date(time))).join(" · ") : null],
      ]} />
    </Card>
  );
}

function TickList() {
  const ticks = useResource(async (signal) => (await api.get("/api/schedules/ticks", { signal })).items, [], { every: 30_000 });
  return (
    <Card title={admin().ticks}>
      {ticks.error !== undefined && <ErrorCard error={ticks.error} onRetry={ticks.refresh} />}
      {ticks.data && (ticks.data.length === 0
        ? <p>{admin().noTicks}</p>
        : <DataTable caption={admin().ticks} rows={ticks.data} keyOf={({ name }) => name} columns={[
            { key: "name", title: admin().tick, isMain: true, cell: ({ name }) => <><span>{admin().tickNames[name] ?? name}</span> <small><code>{name}</code></small></> },
            { key: "fired", title: admin().fired, cell: ({ firedAt }) => <Time value={firedAt} /> },
          ]} />)}
    </Card>
  );
}
