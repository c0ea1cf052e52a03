/** What is wrong with a source, what to do about it, and the button that does it. */

import type { Source } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { ErrorCard } from "../../components/states.tsx";
import { Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { errorAction, errorText } from "../../messages/errors.ts";
import { AnotherVersion } from "./another-version.tsx";
import { sources } from "./messages.ts";

interface Props {
  source: Source;
  onChange: () => void;
  onDelete: () => void;
}

export function Mend({ source, onChange, onDelete }: Props) {
  const { status, errorCode, errorMessage, waiting } = source;
  if (waiting) return <WaitCard source={source} onChange={onChange} />;
  if (!errorCode || !["failed", "partial", "cancelled"].includes(status)) return null;
  if (source.type === "site" && status === "partial") return <MissingPages source={source} code={errorCode} />;
  return (
    <ErrorCard error={{ code: errorCode, detail: errorMessage }}>
      {may("editor") && <MendButton source={source} code={errorCode} onChange={onChange} onDelete={onDelete} />}
    </ErrorCard>
  );
}

function MendButton({ source, code, onChange, onDelete }: Props & { code: string }) {
  const words = sources().toDo;
  const action = errorAction(code);
  switch (action) {
    case "upload":
      return source.type === "file"
        ? <AnotherVersion source={source} onChange={onChange} />
        : <LinkButton kind="primary" icon="upload" href={href("/upload")}>{words.uploadFiles!}</LinkButton>;
    case "firecrawl":
      return <LinkButton kind="primary" icon="crawl" href={href("/crawl", { url: source.uri })}>{words.firecrawl!}</LinkButton>;
    case "chunking":
      return <LinkButton kind="primary" href={href(`/sources/${source.id}`, { tab: "settings" })}>{words.chunking!}</LinkButton>;
    case "delete":
      return <Button kind="danger" icon="trash" onClick={onDelete}>{words.delete!}</Button>;
    case "fetch_again":
      return <Button kind="primary" icon="retry" onClick={() => fetchAgain(source.id, onChange)}>{words.fetch_again!}</Button>;
    case "retry":
      // A run that completed has no job to retry, and a page or site may be fetched again instead.
      return source.type === "file"
        ? <Button kind="primary" icon="retry" onClick={() => retry(source.id, onChange)}>{words.retry!}</Button>
        : <Button kind="primary" icon="retry" onClick={() => fetchAgain(source.id, onChange)}>{words.fetch_again!}</Button>;
    default:
      return null;
  }
}

/** The code is that of pages: its advice, such as to delete the source, is not for the site. */
function MissingPages({ source, code }: { source: Source; code: string }) {
  return (
    <section class="card wait">
      <p><strong>{sources().missingPages}</strong> {errorText(code).means}</p>
      <div class="actions">
        <LinkButton href={href(`/sites/${source.id}`, { status: "failed" })}>{sources().showMissingPages}</LinkButton>
        <code>{code}</code>
      </div>
    </section>
  );
}

function WaitCard({ source, onChange }: { source: Source; onChange: () => void }) {
  const { reason, code, message, until } = source.waiting!;
  const start = () => attempt(async () => {
    await api.post("/api/jobs/{id}/retry", { path: { id: source.jobId! } });
    onChange();
  });
  return (
    <section class="card wait" role="status">
      <p><strong>{sources().waitTitle(reason)}</strong>{" "}
        {code && <>{errorText(code).means} {errorText(code).advice}</>}</p>
      {message && <p class="hint" dir="auto">{message}</p>}
      <div class="actions">
        {until && <span>{sources().waitUntil} <Time value={until} /></span>}
        {code && <code>{code}</code>}
        {may("editor") && source.jobId && <Button icon="play" onClick={start}>{sources().startNow}</Button>}
      </div>
    </section>
  );
}

export function retry(id: string, onChange: () => void): Promise<void> {
  return attempt(async () => {
    await api.post("/api/knowledge-sources/{id}/retry", { path: { id } });
    toast(sources().queued);
    onChange();
  });
}

export function fetchAgain(id: string, onChange: () => void, acceptLosses = false): Promise<void> {
  return attempt(async () => {
    await api.post("/api/knowledge-sources/{id}/rescrape", { path: { id }, body: { acceptLosses } });
    toast(sources().queued);
    onChange();
  });
}
