/** What holds work up, each with the button that ends it; the operator's pause of everything. */

import type { OverviewView } from "@rag-ingest/client";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import { Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { errorText } from "../../messages/errors.ts";
import { boundedCount, duration, number, percent } from "../../messages/format.ts";
import { typeName } from "../jobs/words.ts";
import { overview } from "./messages.ts";
import type { Notice } from "./notices.ts";

interface Props {
  /** Something was resumed: the figures are read again. */
  onDone: () => void;
}

export function Notices({ notices, onDone }: Props & { notices: readonly Notice[] }) {
  if (!notices.length) return null;
  return (
    <ul class="notices">
      {notices.map((notice, i) => <li key={i} class="notice"><Icon name={isPause(notice) ? "pause" : "warning"} /><Text notice={notice} onDone={onDone} /></li>)}
    </ul>
  );
}

function isPause(notice: Notice): boolean {
  return notice.kind === "paused" || notice.kind === "types" || (notice.kind === "lane" && notice.lane.reason === STOPPED);
}

function Text({ notice, onDone }: { notice: Notice; onDone: () => void }) {
  switch (notice.kind) {
    case "paused":
      return (
        <Said what={overview().isPaused} action={<Resume label={overview().resumeAll} run={() => setPaused(false)} onDone={onDone} />}>
          {overview().isPausedText}
        </Said>
      );
    case "no_worker": {
      const since = notice.silentSeconds === null ? undefined : duration(notice.silentSeconds * 1000);
      return <Said what={overview().noWorker}>{overview().noWorkerText(since)}<code>ingest worker</code>.</Said>;
    }
    case "types": {
      const paused = notice.types.filter(({ isEnabled }) => isEnabled);
      const names = notice.types.map(({ type }) => typeName(type)).join(", ");
      return (
        <Said what={overview().types(names, notice.types.length)}
          action={paused.length > 0 && <Resume label={overview().resumeTypes(paused.length)} run={() => resumeTypes(paused.map(({ type }) => type))} onDone={onDone} />}>
          {paused.length < notice.types.length ? overview().typesDisabled : overview().typesPaused}
        </Said>
      );
    }
    case "lane":
      return notice.lane.reason === STOPPED ? <Stopped lane={notice.lane} onDone={onDone} /> : <Lane lane={notice.lane} onDone={onDone} />;
    case "budget":
      return <Said what={overview().budget(number(notice.perDay))}>{overview().budgetText} <Time value={notice.renewsAt} />.</Said>;
    case "quota": {
      const share = percent((notice.used / Math.max(1, notice.limit)) * 100);
      return <Said what={overview().quota(overview().quotas[notice.quota], share)}>{overview().quotaText}</Said>;
    }
  }
}

/** By the operator, unlike the pauses that a provider causes. */
const STOPPED = "provider_paused";

function Stopped({ lane: { lane, pausedSince, note }, onDone }: { lane: OverviewView["lanes"][number]; onDone: () => void }) {
  return (
    <Said what={overview().laneStopped(lane)} action={<Resume label={overview().resumeProvider} run={() => resumeProvider(lane)} onDone={onDone} />}>
      {overview().laneStoppedText}
      {pausedSince && <> {overview().laneSince} <Time value={pausedSince} />{note ? ": " : "."}</>}
      {note && <q dir="auto">{note}</q>}
    </Said>
  );
}

async function resumeProvider(name: string): Promise<void> {
  const { jobCount } = await api.delete("/api/worker/provider/pause", { query: { name } });
  toast(overview().providerTried(number(jobCount), jobCount));
}

function Lane({ lane: { lane, reason, pausedUntil, errorCode }, onDone }: { lane: OverviewView["lanes"][number]; onDone: () => void }) {
  const what = errorCode === null ? overview().lane(lane) : overview().laneFailing(lane);
  return (
    <Said what={what} action={reason !== null && <Resume label={overview().tryProvider} run={tryProviders} onDone={onDone} />}>
      {errorCode !== null && <>{errorText(errorCode).means} <code>{errorCode}</code> </>}
      {reason !== null && overview().laneReasons[reason]}
      {pausedUntil !== null && <> {overview().laneUntil} <Time value={pausedUntil} />.</>}
    </Said>
  );
}

function Said({ what, action, children }: { what: string; action?: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <div>
        <strong dir="auto">{what}</strong>
        <p dir="auto">{children}</p>
      </div>
      {action && (may("operator") ? action : <small>{overview().cannotResume}</small>)}
    </>
  );
}

function Resume({ label, run, onDone }: { label: string; run: () => Promise<unknown>; onDone: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const resume = async () => {
    setBusy(true);
    await attempt(run);
    setBusy(false);
    onDone();
  };
  return <Button icon="play" isBusy={isBusy} onClick={resume}>{label}</Button>;
}

async function setPaused(paused: boolean): Promise<void> {
  await api.put("/api/worker/config", { body: { paused } });
  if (!paused) toast(overview().isResumed);
}

async function resumeTypes(types: readonly string[]): Promise<void> {
  for (const type of types) await api.patch("/api/job-types/{type}", { path: { type }, body: { isPaused: false } });
  toast(overview().isResumed);
}

async function tryProviders(): Promise<void> {
  const { jobCount } = await api.post("/api/worker/provider/resume");
  toast(overview().providerTried(number(jobCount), jobCount));
}

/** For the operator; while everything is paused, the notice has the button that resumes. */
export function PauseButton({ overview: { isPaused, running }, onDone }: Props & { overview: OverviewView }) {
  const [isAsked, setAsked] = useState(false);
  if (isPaused) return null;
  return (
    <>
      <Button icon="pause" onClick={() => setAsked(true)}>{overview().pauseAll}</Button>
      {isAsked && (
        <ConfirmDialog title={overview().pauseTitle} action={overview().pauseAll} onConfirm={async () => { await setPaused(true); onDone(); }} onClose={() => setAsked(false)}>
          <p>{overview().pauseText(running.count, boundedCount(running.count, running.isMore))}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
