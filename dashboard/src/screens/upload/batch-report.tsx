/** What becomes of the files that were sent: counts that add up, and what to do with the failed ones. */

import { useEffect } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { ShareBar, type Series } from "../../components/charts.tsx";
import { download } from "../../components/download.ts";
import { Card } from "../../components/layout.tsx";
import { ErrorCard } from "../../components/states.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { number } from "../../messages/format.ts";
import { upload } from "./messages.ts";

/** Milliseconds between two looks at a batch that is not done. */
const EVERY = 3000;
const PARTS = [
  ["completed", "good"], ["partial", "warning"], ["reviewNeeded", "warning"], ["failed", "bad"],
  ["cancelled", "neutral"], ["processing", "active"], ["pending", "waiting"],
] as const satisfies readonly (readonly [string, Series["tone"]])[];

export function BatchReport({ id, isSending }: { id: string; isSending: boolean }) {
  const batch = useResource((signal) => api.get("/api/batches/{id}", { path: { id }, signal }), [id]);
  const { data } = batch;
  const isOpen = isSending || data?.completedAt === null;
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(() => document.visibilityState === "visible" && batch.refresh(), EVERY);
    return () => clearInterval(timer);
  }, [isOpen]);
  if (batch.error !== undefined && !data) return <ErrorCard error={batch.error} onRetry={batch.refresh} />;
  if (!data) return null;
  const idle = data.unchanged + data.duplicate + data.rejected;
  const parts = PARTS.map(([name, tone]) => [upload().states2[name], tone, data[name]] as const).filter(([, , count]) => count > 0);
  const sum = [...parts.map(([name, , count]) => `${number(count)} ${name}`), ...(idle > 0 ? [`${number(idle)} ${upload().notProcessed}`] : [])];
  const retry = () => attempt(async () => {
    const { jobCount } = await api.post("/api/batches/{id}/retry-failed", { path: { id } });
    toast(upload().retried(jobCount, number(jobCount)));
    batch.refresh();
  });
  const save = () => attempt(() => download("/api/batches/{id}/report", `upload-${id}.csv`, { path: { id }, query: { format: "csv" } }));
  return (
    <Card title={upload().reportTitle} actions={(
      <>
        <Button icon="download" onClick={save}>{upload().csv}</Button>
        <LinkButton href={href(`/batches/${id}`)}>{upload().openReport}</LinkButton>
      </>
    )}>
      <ShareBar label={sum.join(", ")} parts={[...parts, [upload().notProcessed, "neutral", idle]]} />
      <p class="report-sum">
        <strong>{upload().reportText(data.total, number(data.total))}</strong> {upload().sums(sum.join(" + "))}
      </p>
      {!isOpen && <p>{upload().reportDone}</p>}
      {data.failed > 0 && (
        <div class="actions">
          <Button icon="retry" onClick={retry}>{upload().retryFailed(data.failed, number(data.failed))}</Button>
          <LinkButton kind="quiet" href={href("/sources", { batchId: id, status: "failed" })}>{upload().showFailed}</LinkButton>
        </div>
      )}
    </Card>
  );
}
