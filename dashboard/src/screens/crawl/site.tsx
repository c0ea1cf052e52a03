/** A page or site: its runs, its pages live, what is held back for a person, its schedule. */

import type { Crawl, ScheduleView, Source } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { Form, fieldError } from "../../components/fields.tsx";
import { Card, KeyValues, ScreenFrame, Tabs } from "../../components/layout.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { ProgressBar, StatusBadge } from "../../components/status.tsx";
import { Name, Time } from "../../components/text.tsx";
import { toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { useLiveSources } from "../../live/sources.ts";
import { errorText } from "../../messages/errors.ts";
import { number } from "../../messages/format.ts";
import { WaitCard } from "../jobs/wait-card.tsx";
import { WaitText } from "../jobs/wait-text.tsx";
import { FetchAgain } from "./fetch-again.tsx";
import { HeldRemovals } from "./held-removals.tsx";
import { crawl } from "./messages.ts";
import { PageList } from "./page-list.tsx";
import { RunList } from "./run-list.tsx";
import { NextTimes, ScheduleField, scheduleInWords } from "./schedule.tsx";

type Asked = "fetch" | "cancel" | "schedule";

export function Site({ params: { id } }: { params: { id: string } }) {
  const source = useResource((signal) => api.get("/api/knowledge-sources/{id}", { path: { id }, signal }), [id], { every: 15_000 });
  const runs = useResource((signal) => api.get("/api/knowledge-sources/{id}/crawls", { path: { id }, query: { limit: 50 }, signal }), [id]);
  const refresh = () => {
    source.refresh();
    runs.refresh();
  };
  const live = useLiveSources([id], refresh).get(id);
  const [asked, setAsked] = useState<Asked>();
  if (source.error !== undefined && !source.data) return <ErrorCard error={source.error} onRetry={source.refresh} />;
  if (!source.data) return <Skeleton lines={8} />;
  const site = source.data;
  const status = live?.status ?? site.status;
  const isOpen = status === "pending" || status === "processing";
  const latest = runs.data?.items[0];
  const close = () => setAsked(undefined);
  const done = (text: string) => {
    toast(text);
    close();
    refresh();
  };
  return (
    <ScreenFrame title={<Name>{site.name}</Name>} parent={{ title: crawl().allSites, path: "/sources" }} lead={<Name>{site.uri}</Name>}
      actions={(
        <>
          <LinkButton href={href(`/sources/${id}`)}>{crawl().asSource}</LinkButton>
          {may("editor") && !isOpen && <Button icon="retry" onClick={() => setAsked("fetch")}>{crawl().fetchAgain}</Button>}
          {may("editor") && isOpen && <Button icon="cross" onClick={() => setAsked("cancel")}>{crawl().cancel}</Button>}
        </>
      )}>
      <div class="status-line">
        <StatusBadge status={status} />
        <WaitText status={status} waiting={site.waiting} />
        {isOpen && <ProgressBar value={live?.percent ?? null} label={site.name} />}
        {isOpen && latest && <span>{`${crawl().pages}: ${number(latest.pageCount)}`}</span>}
      </div>
      {status === "failed" && site.errorCode !== null && <ErrorCard error={{ code: site.errorCode, detail: site.errorMessage }} />}
      {status === "partial" && <Missing site={site} failed={Number(latest?.digest?.failed ?? 0)} />}
      {isOpen && site.waiting && <WaitCard wait={site.waiting} onChange={refresh} />}
      {status === "review_needed" && latest && <HeldRemovals site={site} run={latest} onDecided={refresh} />}
      <Facts site={site} onSchedule={may("editor") ? () => setAsked("schedule") : undefined} />
      <Tabs label={site.name} tabs={[
        { key: "pages", title: crawl().pages, render: () => <PageList id={id} runs={runs.data?.items ?? []} siteStatus={status} isOpen={isOpen} /> },
        { key: "runs", title: crawl().runs, count: runs.data?.nextCursor === null ? runs.data.items.length : undefined, render: () => <RunList id={id} runs={runs.data?.items} /> },
      ]} />
      {asked === "fetch" && <FetchAgain id={id} onDone={refresh} onClose={close} />}
      {asked === "cancel" && <CancelRun id={id} run={latest} onDone={done} onClose={close} />}
      {asked === "schedule" && <EditSchedule site={site} onDone={done} onClose={close} />}
    </ScreenFrame>
  );
}

/** What a partial site lacks: pages of its last run, or parts of stored documents. */
function Missing({ site: { id, errorCode }, failed }: { site: Source; failed: number }) {
  if (failed > 0) return <p class="hint">{crawl().missing} <a href={href(`/sites/${id}`, { status: "failed" })}>{crawl().showMissing}</a></p>;
  return errorCode === null ? null : <p class="hint">{errorText(errorCode).means}</p>;
}

function Facts({ site, onSchedule }: { site: Source; onSchedule: (() => void) | undefined }) {
  const settings = site.crawl;
  const lines = (patterns: readonly string[], none: string) => patterns.length === 0 ? none : patterns.map((pattern) => <div key={pattern}><code>{pattern}</code></div>);
  return (
    <div class="cards">
      <Card title={crawl().schedule} actions={onSchedule && <Button kind="quiet" onClick={onSchedule}>{crawl().editSchedule}</Button>}>
        <p>{scheduleInWords(site.rescrape)}</p>
        {site.nextRescrapeAt && <KeyValues items={[[crawl().nextRun, <Time value={site.nextRescrapeAt} />]]} />}
        <NextTimes schedule={site.rescrape} />
      </Card>
      {site.type === "site" && settings && (
        <Card title={crawl().settings}>
          <KeyValues items={[
            [crawl().limit, number(settings.limit)],
            [crawl().depth, settings.maxDepth === null ? crawl().depthUnlimited : number(settings.maxDepth)],
            [crawl().include, lines(settings.includePaths, crawl().all)],
            [crawl().exclude, lines(settings.excludePaths, crawl().none)],
            [crawl().provider, crawl().providers[settings.provider as "builtin" | "firecrawl"]],
          ]} />
        </Card>
      )}
    </div>
  );
}

interface DialogProps {
  onDone: (text: string) => void;
  onClose: () => void;
}

function CancelRun({ id, run, onDone, onClose }: DialogProps & { id: string; run: Crawl | undefined }) {
  const cancel = async () => {
    await api.post("/api/knowledge-sources/{id}/cancel", { path: { id } });
    onDone(crawl().cancelled);
  };
  const count = run?.pageCount ?? 0;
  return (
    <ConfirmDialog isDangerous title={crawl().cancelTitle(count, number(count))} action={crawl().cancel} onConfirm={cancel} onClose={onClose}>
      <p>{crawl().cancelText}</p>
    </ConfirmDialog>
  );
}

export function EditSchedule({ site, onDone, onClose }: DialogProps & { site: { id: string; rescrape: ScheduleView | null } }) {
  const [schedule, setSchedule] = useState(site.rescrape);
  const save = async () => {
    await api.patch("/api/knowledge-sources/{id}", { path: { id: site.id }, body: { rescrape: schedule } });
    onDone(crawl().scheduleSaved);
  };
  return (
    <Dialog title={crawl().editSchedule} onClose={onClose} isWide>
      <Form submit={crawl().save} onSubmit={save}>
        {(error) => (
          <>
            <ScheduleField value={schedule} onValue={setSchedule} />
            {fieldError(error, "cron") && <p class="field-error">{fieldError(error, "cron")}</p>}
          </>
        )}
      </Form>
    </Dialog>
  );
}
