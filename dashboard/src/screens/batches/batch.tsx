/** One upload: what became of each file, in counts that add up. */

import type { Batch, ReportedFile } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href, oneOf, readQuery, setQuery } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Card, ScreenFrame } from "../../components/layout.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge, StatusBadge } from "../../components/status.tsx";
import { Bytes, Count, Name } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { reasonText } from "../../messages/errors.ts";
import { dateTime, number } from "../../messages/format.ts";
import { DownloadButton } from "../sources/download.tsx";
import { batches } from "./messages.ts";
import { OpenWork } from "./open-work.tsx";
import { ShareList } from "./share-list.tsx";
import { sharesOf } from "./shares.ts";

/** Rows of the report that are shown; a larger table would stop the page. */
const MOST = 500;
const SHOWN = ["problems", "all"] as const;

export function BatchScreen({ params: { id } }: { params: { id: string } }) {
  const batch = useResource((signal) => api.get("/api/batches/{id}", { path: { id }, signal }), [id], { every: 3000 });
  const data = batch.data;
  const parent = { title: batches().title, path: "/batches" };
  if (!data) {
    return (
      <ScreenFrame title={batches().title} parent={parent}>
        {batch.error !== undefined ? <ErrorCard error={batch.error} onRetry={batch.refresh} /> : <Skeleton lines={8} />}
      </ScreenFrame>
    );
  }
  const { completed, partial, failed, cancelled, processing, pending, reviewNeeded } = data;
  const states = { completed, partial, failed, cancelled, processing, pending, review_needed: reviewNeeded };
  return (
    <ScreenFrame title={batches().batchTitle(dateTime(new Date(data.createdAt)))} parent={parent} actions={<Actions batch={data} onChange={batch.refresh} />}>
      {batch.error !== undefined && <ErrorCard error={batch.error} onRetry={batch.refresh} />}
      <Card title={batches().sum(data.total, number(data.total))} actions={<a href={href("/sources", { batchId: id })}>{batches().sources}</a>}>
        <ShareList shares={sharesOf(data, states)} />
        {pending + processing > 0 && <OpenWork batchId={id} />}
      </Card>
      <Report id={id} version={JSON.stringify(states)} />
    </ScreenFrame>
  );
}

function Actions({ batch, onChange }: { batch: Batch; onChange: () => void }) {
  const [isAsking, ask] = useState(false);
  const path = { id: batch.id };
  const open = batch.processing + batch.pending + batch.reviewNeeded;
  const retry = () => attempt(async () => {
    const { jobCount } = await api.post("/api/batches/{id}/retry-failed", { path });
    toast(batches().retried(jobCount, number(jobCount)));
    onChange();
  });
  const cancel = async () => {
    const { jobCount } = await api.post("/api/batches/{id}/cancel", { path });
    toast(batches().cancelled(jobCount, number(jobCount)));
    onChange();
  };
  return (
    <>
      {may("editor") && batch.failed + batch.partial > 0 && <Button icon="retry" onClick={retry}>{batches().retryFailed}</Button>}
      {may("editor") && open > 0 && <Button icon="cross" onClick={() => ask(true)}>{batches().cancel}</Button>}
      <DownloadButton label={batches().csv} name={`batch-${batch.id}.csv`} url={() => api.url("/api/batches/{id}/report", { path, query: { format: "csv" } })} />
      {isAsking && (
        <ConfirmDialog title={batches().cancelTitle(open, number(open))} action={batches().cancel} onConfirm={cancel} onClose={() => ask(false)}>
          <p>{batches().cancelText}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Read again when the counts have changed. */
function Report({ id, version }: { id: string; version: string }) {
  const { show = "problems" } = readQuery({ show: oneOf(SHOWN) });
  const report = useResource((signal) => api.request<{ files: ReportedFile[] }>("GET", "/api/batches/{id}/report", { path: { id }, signal }), [id, version]);
  const [before, setBefore] = useState<ReportedFile[]>();
  const read = report.data?.files;
  if (read && read !== before) setBefore(read);
  const files = read ?? before;
  if (!files) return report.error !== undefined ? <ErrorCard error={report.error} onRetry={report.refresh} /> : <Skeleton />;
  const problems = files.filter(isProblem);
  const rows = show === "all" ? files : problems;
  return (
    <>
      <div class="state-counts" role="group" aria-label={batches().showing}>
        {SHOWN.map((name) => (
          <button key={name} type="button" class="state-count" aria-pressed={name === show} onClick={() => setQuery({ show: name === "problems" ? undefined : name }, { replace: true })}>
            <strong>{number(name === "all" ? files.length : problems.length)}</strong> {batches().show[name]}
          </button>
        ))}
      </div>
      {rows.length > MOST && <p class="hint">{batches().cut(number(MOST), number(rows.length))}</p>}
      {rows.length === 0
        ? <EmptyState icon="check" title={batches().noProblems} />
        : <DataTable caption={batches().report} columns={columns()} rows={rows.slice(0, MOST)} keyOf={({ path, knowledgeSourceId }) => `${knowledgeSourceId} ${path}`} />}
    </>
  );
}

function isProblem({ verdict, status }: ReportedFile): boolean {
  return verdict === "rejected" || status === "failed" || status === "partial" || status === "review_needed";
}

function columns(): Column<ReportedFile>[] {
  const words = batches();
  return [
    { key: "path", title: words.path, isMain: true, cell: ({ path, knowledgeSourceId }) => (
      knowledgeSourceId === null ? <Name>{path}</Name> : <a class="row-link" href={href(`/sources/${knowledgeSourceId}`)}><Name>{path}</Name></a>
    ) },
    { key: "verdict", title: words.verdicts, isOptional: true, cell: ({ verdict }) => <Badge tone={verdict === "rejected" ? "bad" : "neutral"}>{words.verdict[verdict] ?? verdict}</Badge> },
    { key: "state", title: words.state, cell: ({ status, code }) => status && <StatusBadge status={code === "source_deleted" ? "deleted" : status} /> },
    { key: "reason", title: words.reason, cell: ({ code, detail }) => code && (
      <span class="reason" title={detail ?? undefined}><code>{code}</code> <small dir="auto">{reasonText(code, detail)}</small></span>
    ) },
    { key: "chunks", title: words.chunks, isNumber: true, isOptional: true, cell: ({ chunkCount }) => <Count value={chunkCount} /> },
    { key: "size", title: words.size, isNumber: true, isOptional: true, cell: ({ sizeBytes }) => <Bytes value={sizeBytes} /> },
  ];
}
