/** How far a bulk action is, and what came of it. */

import type { Job } from "@rag-ingest/client";
import { useEffect, useState } from "preact/hooks";
import { href, setQuery } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, IconButton } from "../../components/button.tsx";
import { components } from "../../components/messages.ts";
import { ProgressBar } from "../../components/status.tsx";
import { attempt } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { reasonText } from "../../messages/errors.ts";
import { number } from "../../messages/format.ts";
import { bulk } from "./messages.ts";

interface Result {
  action?: string;
  changed?: number;
  skipped?: Record<string, number>;
}

export function BulkProgress({ jobId, onChange }: { jobId: string; onChange: (isEnded: boolean) => void }) {
  const [isOpen, setOpen] = useState(true);
  const job = useResource((signal) => api.get("/api/jobs/{id}", { path: { id: jobId }, signal }), [jobId], { every: isOpen ? 1000 : undefined });
  const status = job.data?.status;
  useEffect(() => {
    if (status === undefined) return;
    const isOpen = status === "pending" || status === "processing";
    setOpen(isOpen);
    onChange(!isOpen);
  }, [status, job.data?.progress]);
  if (!job.data) return null;
  const stop = () => attempt(async () => {
    await api.post("/api/jobs/{id}/cancel", { path: { id: jobId } });
    job.refresh();
  });
  return (
    <section class="card bulk-progress" role="status">
      <Outcome job={job.data} />
      <div class="actions">
        {isOpen && may("editor") && <Button onClick={stop}>{bulk().stop}</Button>}
        <a href={href(`/jobs/${jobId}`)}>{bulk().details}</a>
        {!isOpen && <IconButton icon="cross" label={components().close} onClick={() => setQuery({ bulk: undefined }, { replace: true })} />}
      </div>
    </section>
  );
}

function Outcome({ job }: { job: Job }) {
  const result = (job.result ?? {}) as Result;
  switch (job.status) {
    case "pending":
    case "processing":
      return <p>{bulk().running(result.action ?? "")} <ProgressBar value={job.status === "pending" ? null : job.progress} label={bulk().label} /></p>;
    case "completed": {
      const skipped = Object.entries(result.skipped ?? {});
      return (
        <div>
          <p><strong>{bulk().done(result.changed ?? 0, number(result.changed ?? 0))}</strong></p>
          {skipped.map(([reason, count]) => <p key={reason}>{bulk().stays(count, number(count), bulk().reasons[reason] ?? reason)}</p>)}
        </div>
      );
    }
    case "cancelled":
      return <p>{bulk().stopped}</p>;
    default:
      return <p>{bulk().failed} {job.lastErrorCode && reasonText(job.lastErrorCode, job.lastErrorMessage)}</p>;
  }
}
