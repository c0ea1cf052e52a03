/** What is wrong with a source, what to do about it, and the button that does it. */

import type { Source } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { ErrorCard } from "../../components/states.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { errorText } from "../../messages/errors.ts";
import { WaitCard } from "../jobs/wait-card.tsx";
import { AnotherVersion } from "./another-version.tsx";
import { mendingOf } from "./mending.ts";
import { sources } from "./messages.ts";

interface Props {
  source: Source;
  onChange: () => void;
  onDelete: () => void;
  onFetch: () => void;
}

export function Mend(props: Props) {
  const { source, onChange } = props;
  const { status, errorCode, errorMessage, waiting } = source;
  if (waiting) return <WaitCard wait={waiting} onChange={onChange} />;
  if (status === "pending" && source.jobId) return <WaitCard wait={{ reason: null, jobId: source.jobId, code: null, message: null, until: null }} onChange={onChange} />;
  if (!errorCode || !["failed", "partial", "cancelled"].includes(status)) return null;
  if (source.type === "site" && status === "partial") return <MissingPages source={source} code={errorCode} />;
  return (
    <ErrorCard error={{ code: errorCode, detail: errorMessage }}>
      {may("editor") && <MendButton {...props} />}
    </ErrorCard>
  );
}

function MendButton({ source, onChange, onDelete, onFetch }: Props) {
  const words = sources().toDo;
  switch (mendingOf(source)) {
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
      return <Button kind="primary" icon="retry" onClick={onFetch}>{words.fetch_again!}</Button>;
    case "retry":
      return <Button kind="primary" icon="retry" onClick={() => queueAgain(source.id, "retry", onChange)}>{words.retry!}</Button>;
    default:
      return null;
  }
}

/** Some pages of a site failed: the code is that of one of them. */
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

/** `read_again`: read the stored bytes of a file as if they were new. */
export function queueAgain(id: string, how: "retry" | "read_again", onChange: () => void): Promise<void> {
  return attempt(async () => {
    await api.post(`/api/knowledge-sources/{id}/${how === "retry" ? how : "read-again"}`, { path: { id } });
    toast(sources().queued);
    onChange();
  });
}
