import type { Crawl, Source } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Card } from "../../components/layout.tsx";
import { ErrorCard } from "../../components/states.tsx";
import { Name } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { number } from "../../messages/format.ts";
import { crawl } from "./messages.ts";

const SHOWN = 20;

/** Pages that a run would remove, for a person to decide: what goes, and the two answers. */
export function HeldRemovals({ site, run, onDecided }: { site: Source; run: Crawl; onDecided: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const held = useResource(
    (signal) => api.get("/api/knowledge-sources/{id}/pages", { path: { id: site.id }, query: { crawlId: run.id, status: "held", limit: SHOWN }, signal }),
    [site.id, run.id],
  );
  const count = Number(run.digest?.["removalsHeld"] ?? 0);
  if (count === 0) return null;
  const shown = number(count);
  const decide = async (answer: "approve" | "reject") => {
    await api.post(`/api/jobs/{id}/${answer}`, { path: { id: run.jobId } });
    toast(answer === "approve" ? crawl().approved(count, shown) : crawl().rejected(count, shown));
    onDecided();
  };
  return (
    <Card title={crawl().held(count, shown)} actions={may("editor") && (
      <>
        <Button onClick={() => attempt(() => decide("reject"))}>{crawl().reject(count, shown)}</Button>
        <Button kind="danger" icon="trash" onClick={() => setAsking(true)}>{crawl().approve(count, shown)}</Button>
      </>
    )}>
      <p>{crawl().heldText}</p>
      {held.error !== undefined && <ErrorCard error={held.error} onRetry={held.refresh} />}
      <ul class="held-pages">
        {held.data?.items.map((page) => <li key={page.id}><Name>{page.uri}</Name></li>)}
      </ul>
      {held.data?.nextCursor && <LinkButton kind="quiet" href={href(`/sites/${site.id}`, { status: "held", run: run.id })}>{crawl().more}</LinkButton>}
      {isAsking && (
        <ConfirmDialog isDangerous title={crawl().approveTitle(count, shown)} action={crawl().approve(count, shown)}
          onConfirm={() => decide("approve")} onClose={() => setAsking(false)}>
          <p>{crawl().approveText}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}
