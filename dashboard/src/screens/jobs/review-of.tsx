/** What a job asks a person: the question, the evidence, and both answers. */

import type { CrawlPage, Job } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Detail } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Name, Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { saysEnglish } from "../../messages/errors.ts";
import { number } from "../../messages/format.ts";
import { jobs } from "./messages.ts";

export function ReviewOf({ jobId, onChange }: { jobId: string; onChange: () => void }) {
  const job = useResource((signal) => api.get("/api/jobs/{id}", { path: { id: jobId }, signal }), [jobId]);
  if (job.data?.status !== "review_needed") return null;
  return <Review job={job.data} onChange={onChange} />;
}

export function Review({ job, onChange, showSource = false }: { job: Job; onChange: () => void; showSource?: boolean }) {
  const [isAsking, ask] = useState(false);
  const reason = job.reviewReason ?? "";
  const words = jobs();
  const decide = async (verdict: "approve" | "reject") => {
    await api.request("POST", `/api/jobs/${job.id}/${verdict}`);
    toast(verdict === "approve" ? words.approved : words.rejected);
    onChange();
  };
  // Removing pages is final; everything else can be undone by another upload or a retry.
  const approve = () => (reason === "mass_deletion" ? ask(true) : void attempt(() => decide("approve")));
  return (
    <section class="card review" tabIndex={-1} data-review>
      <header>
        {showSource && job.knowledgeSourceId && (
          <h2><a class="row-link" href={href(`/sources/${job.knowledgeSourceId}`)}><Name>{job.sourceName ?? job.uri ?? job.id}</Name></a></h2>
        )}
        <Badge tone="warning" icon="reviews">{words.reasons[reason] ?? reason}</Badge>
        <Time value={job.createdAt} />
      </header>
      <Question job={job} />
      {reason === "mass_deletion" && job.knowledgeSourceId && <HeldPages sourceId={job.knowledgeSourceId} />}
      {may("editor") && (
        <div class="actions">
          <Button kind="primary" icon="check" data-approve onClick={approve}>{words.approveMeans[reason] ?? words.approve}</Button>
          <Button icon="cross" data-reject onClick={() => attempt(() => decide("reject"))}>{words.rejectMeans[reason] ?? words.reject}</Button>
        </div>
      )}
      {isAsking && (
        <ConfirmDialog title={words.approveTitle} action={words.approveMeans[reason] ?? words.approve} isDangerous onConfirm={() => decide("approve")} onClose={() => ask(false)}>
          <Question job={job} />
        </ConfirmDialog>
      )}
    </section>
  );
}

/** The service's own has the numbers. */
function Question({ job: { reviewReason, lastErrorMessage: said } }: { job: Job }) {
  const known = jobs().questions[reviewReason ?? ""];
  if (known === undefined || saysEnglish()) return <p dir="auto">{said}</p>;
  return <><p>{known}</p>{said && <Detail text={said} />}</>;
}

/** The first of the pages that wait to be removed. */
function HeldPages({ sourceId }: { sourceId: string }) {
  const found = useResource((signal) => api.get("/api/knowledge-sources/{id}/pages", { path: { id: sourceId }, query: { status: "held", limit: 50 }, signal }), [sourceId]);
  const pages: CrawlPage[] = found.data?.items ?? [];
  if (!pages.length) return null;
  return (
    <details open={pages.length <= 10}>
      <summary>{jobs().pagesToRemove}: {number(pages.length)}{found.data?.nextCursor ? "+" : ""}</summary>
      <ul class="plain">{pages.map(({ id, uri }) => <li key={id}><Name>{uri}</Name></li>)}</ul>
    </details>
  );
}
