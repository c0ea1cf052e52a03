/** Stages, attempts, members or pages, coverage, warnings and facts of a source. */

import type { Source } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { ShareBar } from "../../components/charts.tsx";
import { Card, Id, KeyValues } from "../../components/layout.tsx";
import { components } from "../../components/messages.ts";
import { Icon } from "../../components/icon.tsx";
import { Warnings } from "../../components/status.tsx";
import { Bytes, Count, Name, shortId, Time } from "../../components/text.tsx";
import { useResource } from "../../live/resource.ts";
import type { LiveSource } from "../../live/sources.ts";
import { reasonText } from "../../messages/errors.ts";
import { boundedCount, duration, number } from "../../messages/format.ts";
import { sources } from "./messages.ts";
import { CoverageStrip } from "./coverage.tsx";
import { queueAgain } from "./mend.tsx";
import { attemptsOf, stepsOf, type Attempt, type StageStep } from "./stages.ts";

const OPEN = ["pending", "processing"];

export function SourceOverview({ source, live, onChange }: { source: Source; live: LiveSource | undefined; onChange: () => void }) {
  const isOpen = OPEN.includes(live?.status ?? source.status);
  return (
    <>
      <div class="cards">
        {source.jobId && <Run source={source} live={live} isOpen={isOpen} />}
        <Children source={source} isOpen={isOpen} onChange={onChange} />
        {source.coverage && source.coverage.pages > 0 && <Card title={sources().coverage}><CoverageStrip coverage={source.coverage} /></Card>}
        <WarningCard source={source} />
      </div>
      <Facts source={source} />
    </>
  );
}

function Run({ source, live, isOpen }: { source: Source; live: LiveSource | undefined; isOpen: boolean }) {
  const id = source.jobId!;
  const job = useResource((signal) => api.get("/api/jobs/{id}", { path: { id }, signal }), [id, source.status], { every: isOpen ? 2000 : undefined });
  if (!job.data) return null;
  const logs = job.data.logs ?? [];
  const attempts = attemptsOf(logs);
  return (
    <>
      {source.type !== "site" && (
        <Card title={sources().stages}>
          <Stages steps={stepsOf(job.data, logs, { isFile: source.type === "file", stage: isOpen ? live?.stage : undefined })} />
        </Card>
      )}
      {(attempts.length > 0 || isOpen) && <Card title={sources().attempts} actions={<a href={href(`/jobs/${id}`)}>{sources().tabs.jobs}</a>}>
        {attempts.length === 0 ? <p class="hint">{sources().noAttempts}</p> : (
          <ol class="timeline">
            {attempts.map((attempt) => (
              <li key={attempt.number} class={attempt.problem?.level ?? "info"}>
                <strong>{sources().attempt(attempt.number)}</strong> <Time value={attempt.startedAt} />{attempt.duration > 0 && ` · ${duration(attempt.duration)}`}
                {attempt.problem && <Trouble problem={attempt.problem} />}
              </li>
            ))}
          </ol>
        )}
      </Card>}
    </>
  );
}

/** The last warning or error of an attempt. */
function Trouble({ problem: { message, details } }: { problem: NonNullable<Attempt["problem"]> }) {
  const { code } = details;
  if (typeof code !== "string") return <p dir="auto">{message}</p>;
  return <p dir="auto" title={message}>{reasonText(code, message)} <code>{code}</code></p>;
}

const ICONS = { done: "check", active: "play", failed: "cross", waiting: "clock" } as const;

export function Stages({ steps }: { steps: readonly StageStep[] }) {
  return (
    <ol class="stages">
      {steps.map(({ name, state, duration: spent }) => (
        <li key={name} class={state} aria-current={state === "active" ? "step" : undefined}>
          <Icon name={ICONS[state]} />
          <span>{sources().stageNames[name]} <span class="visually-hidden">{sources().stageStates[state]}</span></span>
          {spent !== undefined && <small>{duration(spent)}</small>}
        </li>
      ))}
    </ol>
  );
}

const TONES = { completed: "good", failed: "bad", cancelled: "neutral", review_needed: "warning", processing: "active", pending: "waiting" } as const;

function Children({ source, isOpen, onChange }: { source: Source; isOpen: boolean; onChange: () => void }) {
  const found = useResource((signal) => api.get("/api/knowledge-sources/{id}/children", { path: { id: source.id }, signal }), [source.id, source.status], { every: isOpen ? 2000 : undefined });
  const items = (found.data?.items ?? []).filter(({ count }) => count > 0);
  if (!items.length || !source.jobId) return null;
  const kind = source.type === "site" ? "site" : "file";
  const failed = items.find(({ status }) => status === "failed");
  const link = (status?: string) => href("/jobs", { parentJobId: source.jobId, status });
  return (
    <Card title={sources().children[kind]!} actions={source.type === "site" ? <a href={href(`/sites/${source.id}`)}>{sources().runs}</a> : <>
          {failed && source.status === "partial" && may("editor") && <Button kind="quiet" icon="retry" onClick={() => queueAgain(source.id, "retry", onChange)}>{sources().retryFailed}</Button>}
          <a href={link()}>{sources().childList}</a>
        </>}>
      <ShareBar label={sources().children[kind]!} parts={items.map(({ status, count }) => [components().status[status] ?? status, TONES[status as keyof typeof TONES] ?? "neutral", count] as const)} />
      <ul class="legends">
        {items.map(({ status, count, isExact }) => (
          <li key={status} class={`legend ${TONES[status as keyof typeof TONES] ?? "neutral"}`}>
            <a href={link(status)}>{boundedCount(count, !isExact)} {components().status[status] ?? status}</a>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Of its first documents: a file has one, and its members and pages show their own. */
function WarningCard({ source }: { source: Source }) {
  const found = useResource((signal) => api.get("/api/knowledge-sources/{id}/documents", { path: { id: source.id }, query: { limit: 50 }, signal }), [source.id, source.status]);
  const warnings = [...new Set((found.data?.items ?? []).flatMap(({ warnings }) => warnings))];
  if (!warnings.length) return null;
  return (
    <Card title={sources().warnings}>
      <Warnings codes={warnings} />
    </Card>
  );
}

const MOST_COLLECTIONS = 20;

/** One request for the names of all; the id of those that are not among the first. */
function Collections({ ids }: { ids: readonly string[] }) {
  const found = useResource((signal) => api.get("/api/collections", { query: { limit: 200 }, signal }), []);
  const names = new Map((found.data?.items ?? []).map(({ id, name }) => [id, name]));
  return (
    <>
      {ids.slice(0, MOST_COLLECTIONS).map((id) => (
        <span key={id}><a href={href(`/collections/${id}`)}>{names.has(id) ? <Name>{names.get(id)!}</Name> : <code>{shortId(id)}</code>}</a> </span>
      ))}
      {ids.length > MOST_COLLECTIONS && `+ ${number(ids.length - MOST_COLLECTIONS)}`}
    </>
  );
}

function Facts({ source }: { source: Source }) {
  const words = sources().facts;
  const own = Object.entries(source.metadata);
  return (
    <Card>
      <KeyValues items={[
        [source.type === "file" ? words.path : words.address, <Name>{source.uri}</Name>],
        [words.type, sources().types[source.type]],
        [words.chunks, <Count value={source.chunkCount} />],
        [words.tokens, <Count value={source.tokenCount} />],
        [words.size, source.sizeBytes === null ? null : <Bytes value={source.sizeBytes} />],
        [words.added, <Time value={source.createdAt} />],
        [words.changed, <Time value={source.updatedAt} />],
        [words.next, source.nextRescrapeAt && <Time value={source.nextRescrapeAt} />],
        [words.batch, source.batchId && <a href={href(`/batches/${source.batchId}`)}><code>{shortId(source.batchId)}</code></a>],
        [words.collections, source.collectionIds.length ? <Collections ids={source.collectionIds} /> : null],
        [words.duplicate, source.duplicateOf && <a href={href(`/sources/${source.duplicateOf}`)}><code>{shortId(source.duplicateOf)}</code></a>],
        [words.hash, source.contentHash && <Id value={source.contentHash} />],
        [words.id, <Id value={source.id} />],
        ...own.map(([key, value]) => [key, <Name>{typeof value === "string" ? value : JSON.stringify(value)}</Name>] as const),
      ]} />
    </Card>
  );
}
