/** One job: state, reason, log, and what can be done with it. */

import type { JobWithLogs } from "@rag-ingest/client";
import { useEffect, useState } from "preact/hooks";
import { href, navigate } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Card, CodeBlock, Id, KeyValues, ScreenFrame } from "../../components/layout.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { Name, shortId, Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { duration, number } from "../../messages/format.ts";
import { sources } from "../sources/messages.ts";
import { isPaused, JobState, reasonOf } from "./job-columns.tsx";
import { LogLines } from "./job-log.tsx";
import { jobs } from "./messages.ts";
import { ReviewOf } from "./review-of.tsx";
import { WaitCard, type Wait } from "./wait-card.tsx";
import { typeName } from "./words.ts";

/** Types whose jobs have others below them. */
const PARENTS = new Set(["file", "archive", "site_crawl", "rescrape"]);

export function JobScreen({ params: { id } }: { params: { id: string } }) {
  const [isOpen, setOpen] = useState(true);
  const resource = useResource((signal) => api.get("/api/jobs/{id}", { path: { id }, signal }), [id], { every: isOpen ? 2000 : 15_000 });
  const job = resource.data;
  useEffect(() => {
    if (job) setOpen(job.status === "pending" || job.status === "processing");
  }, [job?.status]);
  const parent = { title: jobs().title, path: "/jobs" };
  if (!job) {
    return (
      <ScreenFrame title={jobs().title} parent={parent}>
        {resource.error !== undefined ? <ErrorCard error={resource.error} onRetry={resource.refresh} /> : <Skeleton lines={8} />}
      </ScreenFrame>
    );
  }
  const isEnded = ["failed", "cancelled"].includes(job.status);
  return (
    <ScreenFrame title={jobs().jobTitle(typeName(job.type))} parent={parent} lead={<JobState job={job} />}
      actions={may("editor") && <Actions job={job} onChange={resource.refresh} />}>
      {resource.error !== undefined && <ErrorCard error={resource.error} onRetry={resource.refresh} />}
      {job.status === "pending" && <WaitCard wait={waitOfJob(job)} onChange={resource.refresh} />}
      {job.lastErrorCode && isEnded && <Failure job={job} onChange={resource.refresh} />}
      {job.status === "review_needed" && <ReviewOf jobId={job.id} onChange={resource.refresh} />}
      <div class="cards">
        <Facts job={job} />
        {job.result && <Card title={jobs().result}><CodeBlock text={JSON.stringify(job.result, null, 2)} /></Card>}
      </div>
      <LogLines lines={job.logs ?? []} isLive={isOpen} />
    </ScreenFrame>
  );
}

/** While its type is paused or full, neither its time nor its last error is the reason. */
function waitOfJob(job: JobWithLogs): Wait {
  const reason = reasonOf(job);
  const isHeld = reason === "paused" || job.runAt === null;
  return { reason, jobId: job.id, code: isHeld ? null : job.lastErrorCode, message: isHeld ? null : job.lastErrorMessage, until: isHeld ? null : job.runAt };
}

/** A source has the button that mends it; a job without one can only be retried. */
function Failure({ job, onChange }: { job: JobWithLogs; onChange: () => void }) {
  return (
    <ErrorCard error={{ code: job.lastErrorCode!, detail: job.lastErrorMessage }}>
      {job.knowledgeSourceId
        ? <LinkButton kind="primary" href={href(`/sources/${job.knowledgeSourceId}`)}>{jobs().openSource}</LinkButton>
        : may("editor") && <Button kind="primary" icon="retry" onClick={() => retryJob(job.id, onChange)}>{jobs().retry}</Button>}
    </ErrorCard>
  );
}

function retryJob(id: string, onChange: () => void): Promise<void> {
  return attempt(async () => {
    await api.post("/api/jobs/{id}/retry", { path: { id } });
    toast(sources().queued);
    onChange();
  });
}

function Facts({ job }: { job: JobWithLogs }) {
  const words = jobs().facts;
  return (
    <Card>
      <KeyValues items={[
        [words.source, job.knowledgeSourceId && <a href={href(`/sources/${job.knowledgeSourceId}`)}><Name>{job.sourceName ?? job.knowledgeSourceId}</Name></a>],
        [words.path, job.uri && <Name>{job.uri}</Name>],
        [words.type, <>{typeName(job.type)} <code>{job.type}</code></>],
        [words.stage, job.stage && (sources().stageNames[job.stage] ?? job.stage)],
        [words.attempts, `${number(job.attempts)} / ${number(job.maxAttempts)}`],
        [words.priority, number(job.priority)],
        [words.queued, <Time value={job.createdAt} />],
        [words.started, job.startedAt && <Time value={job.startedAt} />],
        [words.ended, job.completedAt && <Time value={job.completedAt} />],
        [words.took, job.durationMs === null ? null : duration(job.durationMs)],
        [words.runAt, job.runAt && !isPaused(job.waitReason) && <Time value={job.runAt} />],
        [words.heartbeat, job.heartbeatAt && <Time value={job.heartbeatAt} />],
        [words.parent, job.parentJobId && <a href={href(`/jobs/${job.parentJobId}`)}><code>{shortId(job.parentJobId)}</code></a>],
        [words.batch, job.batchId && <a href={href(`/batches/${job.batchId}`)}><code>{shortId(job.batchId)}</code></a>],
        [words.id, <Id value={job.id} />],
      ]} />
      {PARENTS.has(job.type) && <p><a href={href("/jobs", { parentJobId: job.id })}>{jobs().children}</a></p>}
    </Card>
  );
}

function Actions({ job, onChange }: { job: JobWithLogs; onChange: () => void }) {
  const [asked, ask] = useState<"cancel" | "delete">();
  const words = jobs();
  const path = { id: job.id };
  const isOpen = ["pending", "processing", "review_needed"].includes(job.status);
  const canRetry = ["failed", "cancelled"].includes(job.status);
  const again = () => retryJob(job.id, onChange);
  const remove = async () => {
    await api.delete("/api/jobs/{id}", { path });
    toast(words.removed);
    navigate("/jobs");
  };
  const cancel = async () => {
    await api.post("/api/jobs/{id}/cancel", { path });
    onChange();
  };
  return (
    <>
      {canRetry && <Button icon="retry" onClick={again}>{words.retry}</Button>}
      {isOpen && job.type !== "purge" && <Button icon="cross" onClick={() => ask("cancel")}>{words.cancel}</Button>}
      {!isOpen && <Button icon="trash" onClick={() => ask("delete")}>{words.remove}</Button>}
      {asked === "cancel" && <ConfirmDialog title={words.cancelTitle} action={words.cancel} onConfirm={cancel} onClose={() => ask(undefined)}><p>{words.cancelText}</p></ConfirmDialog>}
      {asked === "delete" && <ConfirmDialog title={words.removeTitle} action={words.remove} isDangerous onConfirm={remove} onClose={() => ask(undefined)}><p>{words.removeText}</p></ConfirmDialog>}
    </>
  );
}
