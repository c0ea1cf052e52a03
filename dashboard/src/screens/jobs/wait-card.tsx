/** What a job or source waits for, and the button that ends it. */

import type { Source } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api, may, me } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Time } from "../../components/text.tsx";
import { Detail } from "../../components/states.tsx";
import { attempt } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { errorText } from "../../messages/errors.ts";
import { Notices } from "../overview/notice-list.tsx";
import { noticesOf, type Notice } from "../overview/notices.ts";
import { jobs } from "./messages.ts";
import { waitOf } from "./words.ts";

/** Its reason is null while nothing but a free worker is missing. */
export type Wait = Omit<NonNullable<Source["waiting"]>, "reason"> & { reason: string | null };

/** What the overview knows of a reason. */
const NOTICES: Readonly<Record<string, readonly Notice["kind"][]>> = {
  free: ["no_worker"],
  paused: ["paused", "types"],
  budget_exceeded: ["budget"],
  provider_unavailable: ["lane"],
  provider_paused: ["lane"],
  rate_limited: ["lane"],
};
/** Other work of the same job, or the operator: it goes on by itself, and nobody here can hasten it. */
const OWN = new Set(["pages", "members", "provider", "next_rows", "next_documents", "provider_paused"]);

export function WaitCard({ wait, onChange }: { wait: Wait; onChange: () => void }) {
  const { reason, code, message, until, jobId } = wait;
  const kinds = NOTICES[reason ?? "free"];
  // A key that is limited to collections may not ask, and may change nothing either.
  const mayAsk = kinds !== undefined && me().collectionIds === null;
  const overview = useResource(async (signal) => (mayAsk ? api.get("/api/overview", { signal }) : undefined), [mayAsk], { every: mayAsk ? 5000 : undefined });
  const notices = overview.data ? noticesOf(overview.data).filter(({ kind }) => kinds!.includes(kind)) : [];
  if (reason === null && !notices.length) return null;
  const refresh = () => {
    overview.refresh();
    onChange();
  };
  const start = () => attempt(async () => {
    await api.post("/api/jobs/{id}/retry", { path: { id: jobId } });
    onChange();
  });
  const isOwn = reason !== null && OWN.has(reason);
  return (
    <section class="card wait" role="status">
      <p><strong>{jobs().waitTitle(waitOf(reason))}</strong>{" "}
        {code && <>{errorText(code).means} {errorText(code).advice}</>}</p>
      {message && <Detail text={message} />}
      <Notices notices={notices} onDone={refresh} />
      <div class="actions">
        {until && !isOwn && <span>{jobs().waitUntil} <Time value={until} /></span>}
        {code && <code>{code}</code>}
        {until && !isOwn && may("editor") && <Button icon="play" onClick={start}>{jobs().startNow}</Button>}
        {reason === "budget_exceeded" && may("operator") && <LinkButton href={href(`/applications/${me().application.id}`)}>{jobs().toBudget}</LinkButton>}
        {(reason === "max_concurrent" || reason === "rate_limited") && may("operator") && <LinkButton href={href("/job-types")}>{jobs().toJobTypes}</LinkButton>}
      </div>
    </section>
  );
}
