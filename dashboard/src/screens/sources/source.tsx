/** One source: its state, live, what to do about it, and everything that is known of it. */

import type { Source } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { navigate } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { ScreenFrame, Tabs } from "../../components/layout.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { ProgressBar, StatusBadge } from "../../components/status.tsx";
import { Name } from "../../components/text.tsx";
import { toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { useLiveSources, type LiveSource } from "../../live/sources.ts";
import { duration, number } from "../../messages/format.ts";
import { FetchAgain } from "../crawl/fetch-again.tsx";
import { ReviewOf } from "../jobs/review-of.tsx";
import { WaitText } from "../jobs/wait-text.tsx";
import { sources } from "./messages.ts";
import { Mend, queueAgain } from "./mend.tsx";
import { againOf } from "./mending.ts";
import { SourceChunks } from "./source-chunks.tsx";
import { SourceDocuments } from "./source-documents.tsx";
import { SourceEvents } from "./source-events.tsx";
import { SourceJobs } from "./source-jobs.tsx";
import { SourceOverview } from "./source-overview.tsx";
import { SourceSettings } from "./source-settings.tsx";

type Asked = "delete" | "cancel" | "fetch" | undefined;

export function SourceScreen({ params: { id } }: { params: { id: string } }) {
  const resource = useResource((signal) => api.get("/api/knowledge-sources/{id}", { path: { id }, signal }), [id], { every: 15_000 });
  const live = useLiveSources([id], resource.refresh).get(id);
  const [asked, ask] = useState<Asked>();
  const parent = { title: sources().title, path: "/sources" };
  const source = resource.data;
  if (!source) {
    return (
      <ScreenFrame title={sources().title} parent={parent}>
        {resource.error !== undefined ? <ErrorCard error={resource.error} onRetry={resource.refresh} /> : <Skeleton lines={8} />}
      </ScreenFrame>
    );
  }
  const status = live?.status ?? source.status;
  const refresh = resource.refresh;
  return (
    <ScreenFrame title={<Name>{source.name}</Name>} parent={parent} lead={<Lead source={source} status={status} live={live} />}
      actions={may("editor") && <Actions source={source} status={status} ask={ask} onChange={refresh} />}>
      {resource.error !== undefined && <ErrorCard error={resource.error} onRetry={refresh} />}
      <Mend source={source} onChange={refresh} onDelete={() => ask("delete")} onFetch={() => ask("fetch")} />
      {status === "review_needed" && source.jobId && <ReviewOf jobId={source.jobId} onChange={refresh} />}
      <Tabs label={source.name} tabs={[
        { key: "overview", title: sources().tabs.overview, render: () => <SourceOverview source={source} live={live} onChange={refresh} /> },
        { key: "documents", title: sources().tabs.documents, render: () => <SourceDocuments source={source} /> },
        { key: "chunks", title: sources().tabs.chunks, count: live?.chunkCount ?? source.chunkCount, render: () => <SourceChunks source={source} /> },
        { key: "events", title: sources().tabs.events, render: () => <SourceEvents source={source} /> },
        { key: "jobs", title: sources().tabs.jobs, render: () => <SourceJobs source={source} /> },
        { key: "settings", title: sources().tabs.settings, render: () => <SourceSettings key={source.id} source={source} onChange={refresh} /> },
      ]} />
      {asked && <Ask asked={asked} source={source} onChange={refresh} onClose={() => ask(undefined)} />}
    </ScreenFrame>
  );
}

function Lead({ source, status, live }: { source: Source; status: Source["status"]; live: LiveSource | undefined }) {
  const eta = live?.etaSeconds;
  return (
    <span class="state">
      <StatusBadge status={status} />
      <WaitText status={status} waiting={source.waiting} />
      {status === "processing" && <ProgressBar value={live?.percent} label={sources().progress(source.name)} />}
      {status === "processing" && typeof eta === "number" && <small>{sources().eta(duration(eta * 1000))}</small>}
    </span>
  );
}

function Actions({ source, status, ask, onChange }: { source: Source; status: Source["status"]; ask: (asked: Asked) => void; onChange: () => void }) {
  const isOpen = ["pending", "processing", "review_needed"].includes(status);
  const again = againOf({ ...source, status });
  return (
    <>
      {again && <Button icon="retry" onClick={() => again === "fetch_again" ? ask("fetch") : queueAgain(source.id, again, onChange)}>{sources().toDo[again]!}</Button>}
      {isOpen && <Button icon="cross" onClick={() => ask("cancel")}>{sources().cancel}</Button>}
      <Button icon="trash" onClick={() => ask("delete")}>{sources().remove}</Button>
    </>
  );
}

function Ask({ asked, source, onChange, onClose }: { asked: NonNullable<Asked>; source: Source; onChange: () => void; onClose: () => void }) {
  const path = { id: source.id };
  const words = sources();
  if (asked === "delete") {
    const remove = async () => {
      await api.delete("/api/knowledge-sources/{id}", { path });
      toast(words.removed);
      navigate("/sources");
    };
    return (
      <ConfirmDialog title={words.removeTitle(source.name)} action={words.remove} isDangerous onConfirm={remove} onClose={onClose}>
        <p>{words.removeText(source.chunkCount, number(source.chunkCount))}</p>
      </ConfirmDialog>
    );
  }
  if (asked === "cancel") {
    const cancel = async () => {
      await api.post("/api/knowledge-sources/{id}/cancel", { path });
      toast(words.cancelled);
      onChange();
    };
    return (
      <ConfirmDialog title={words.cancelTitle(source.name)} action={words.cancel} onConfirm={cancel} onClose={onClose}>
        <p>{words.cancelText}</p>
      </ConfirmDialog>
    );
  }
  return <FetchAgain id={source.id} onDone={onChange} onClose={onClose} />;
}
