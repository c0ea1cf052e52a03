import type { Crawl } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { EmptyState, Skeleton } from "../../components/states.tsx";
import { Badge, type Tone } from "../../components/status.tsx";
import { Count, Missing, Time } from "../../components/text.tsx";
import { reasonText } from "../../messages/errors.ts";
import { duration, number } from "../../messages/format.ts";
import { skippedWords } from "./check-result.tsx";
import { crawl } from "./messages.ts";

const TONES: Record<string, Tone> = { completed: "good", failed: "bad", running: "active", finishing: "active" };
const OUTCOMES = ["new", "changed", "unchanged", "kept", "duplicate", "gone", "skipped", "failed", "overLimit", "removalsHeld", "removed"];

/** The last 50 runs with what each has done. */
export function RunList({ id, runs }: { id: string; runs: readonly Crawl[] | undefined }) {
  if (!runs) return <Skeleton />;
  if (runs.length === 0) return <EmptyState icon="crawl" title={crawl().noRuns} />;
  return (
    <DataTable caption={crawl().runs} rows={runs} keyOf={(run) => run.id} columns={COLUMNS()} hrefOf={(run) => href(`/sites/${id}`, { run: run.id })} />
  );
}

const COLUMNS = (): Column<Crawl>[] => [
  { key: "begun", title: crawl().begun, isMain: true, cell: (run) => <Time value={run.createdAt} /> },
  { key: "status", title: crawl().outcome, cell: (run) => <Outcome run={run} /> },
  { key: "took", title: crawl().took, isNumber: true, isOptional: true, cell: ({ createdAt, endedAt }) => endedAt ? duration(Date.parse(endedAt) - Date.parse(createdAt)) : <Missing /> },
  { key: "pages", title: crawl().pages, isNumber: true, cell: ({ pageCount }) => <Count value={pageCount} /> },
  { key: "digest", title: crawl().whatChanged, cell: ({ digest, skipped }) => <Digest digest={digest} skipped={skipped} /> },
  { key: "tokens", title: crawl().tokens, isOptional: true, cell: ({ digest }) => digest ? tokens(digest) : <Missing /> },
];

function Outcome({ run }: { run: Crawl }) {
  return (
    <>
      <Badge tone={TONES[run.status] ?? "neutral"}>{crawl().runStatus[run.status] ?? run.status}</Badge>
      {run.errorCode && <span title={run.errorMessage ?? undefined}> {reasonText(run.errorCode, run.errorMessage)} <code>{run.errorCode}</code></span>}
      {run.status === "completed" && run.isComplete === false && <span class="reason"> {crawl().incomplete}</span>}
    </>
  );
}

/** `12 new, 3 changed`; what was not followed, on hover. */
function Digest({ digest, skipped }: Pick<Crawl, "digest" | "skipped">) {
  if (!digest) return <Missing />;
  const parts = OUTCOMES.filter((name) => Number(digest[name] ?? 0) > 0).map((name) => `${number(Number(digest[name]))} ${crawl().digest[name]}`);
  const blocks = Number(digest["furniture"] ?? 0);
  if (blocks > 0) parts.push(crawl().leftOut(blocks, number(blocks)));
  return <span title={skippedWords(skipped)}>{parts.join(", ") || crawl().nothingChanged}</span>;
}

function tokens(digest: Readonly<Record<string, unknown>>): string {
  return `${number(Number(digest["tokensSpent"] ?? 0))} ${crawl().embedded}, ${number(Number(digest["tokensSaved"] ?? 0))} ${crawl().saved}`;
}
