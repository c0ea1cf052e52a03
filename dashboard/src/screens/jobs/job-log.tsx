/** The log of a job, read every two seconds while the job is open. */

import type { JobLog as Line } from "@rag-ingest/client";
import { api } from "../../app/session.ts";
import { Card } from "../../components/layout.tsx";
import { Badge } from "../../components/status.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { useState, useEffect } from "preact/hooks";
import { dateTime, duration } from "../../messages/format.ts";
import { jobs } from "./messages.ts";

/** Lines that a job's answer has. */
const MOST = 200;

export function JobLog({ jobId }: { jobId: string }) {
  const [isOpen, setOpen] = useState(true);
  const job = useResource((signal) => api.get("/api/jobs/{id}", { path: { id: jobId }, signal }), [jobId], { every: isOpen ? 2000 : undefined });
  const status = job.data?.status;
  useEffect(() => {
    if (status) setOpen(status === "pending" || status === "processing");
  }, [status]);
  if (!job.data) return job.error !== undefined ? <ErrorCard error={job.error} onRetry={job.refresh} /> : <Skeleton lines={3} />;
  return <LogLines lines={job.data.logs ?? []} isLive={isOpen} />;
}

export function LogLines({ lines, isLive }: { lines: readonly Line[]; isLive: boolean }) {
  return (
    <Card title={jobs().log} actions={isLive && <Badge tone="active">{jobs().logLive}</Badge>}>
      {lines.length === 0 && <p class="hint">{jobs().noLog}</p>}
      {lines.length >= MOST && <p class="hint">{jobs().earlierLog}</p>}
      <ol class="log" tabIndex={0} aria-label={jobs().log}>
        {lines.map((line, i) => (
          <li key={i} class={line.level}>
            <time dateTime={line.createdAt} title={dateTime(new Date(line.createdAt))}>{new Date(line.createdAt).toLocaleTimeString()}</time>
            <span>{jobs().attempt(line.attempt)}</span>
            {line.stage && <code>{line.stage}</code>}
            <span class="log-text" dir="auto">{line.message}{detailsOf(line)}</span>
            {line.durationMs !== null && <small>{duration(line.durationMs)}</small>}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function detailsOf({ details }: Line): string {
  const shown = Object.entries(details).map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`);
  return shown.length ? ` · ${shown.join(" ")}` : "";
}
