/** The pages of a run by outcome, live while it is open. */

import type { Crawl, CrawlPage } from "@rag-ingest/client";
import { useEffect } from "preact/hooks";
import { href, oneOf, readQuery, text } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { FilterChips, type Filter } from "../../components/filter-chips.tsx";
import { Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge, type Tone } from "../../components/status.tsx";
import { Count, Name, Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useList } from "../../live/list.ts";
import { reasonText } from "../../messages/errors.ts";
import { dateTime } from "../../messages/format.ts";
import { crawl } from "./messages.ts";

const STATUSES = [
  "queued", "new", "changed", "unchanged", "kept", "duplicate", "gone", "skipped", "failed", "over_limit", "held", "removed",
] as const;
const TONES: Partial<Record<(typeof STATUSES)[number], Tone>> = {
  new: "good", changed: "good", unchanged: "good", failed: "bad", held: "warning", removed: "warning", gone: "warning", queued: "active",
};
const QUERY = { status: oneOf(STATUSES), run: text };
/** Milliseconds between two looks at an open run. */
const EVERY = 3000;

export function PageList({ id, runs, siteStatus, isOpen }: { id: string; runs: readonly Crawl[]; siteStatus: string; isOpen: boolean }) {
  const { status, run } = readQuery(QUERY);
  // Named, so that another run shows another list.
  const crawlId = run ?? runs[0]?.id;
  const list = useList({
    load: (cursor, signal) => api.get("/api/knowledge-sources/{id}/pages", { path: { id }, query: { status, crawlId, cursor, limit: 50 }, signal }),
    dependencies: [id, status, crawlId],
    keyOf: (page: CrawlPage) => page.id,
    ...(isOpen && { every: EVERY }),
  });
  const rows = list.rows ?? [];
  // The last pages of a run come after the last look at it, and a decision changes those that were held.
  useEffect(list.refresh, [siteStatus]);
  // Pages are in the order in which they were found: new ones follow below, and nothing moves.
  useEffect(() => {
    if (list.fresh > 0) list.showFresh();
  }, [list.fresh]);
  const filters: Filter[] = [
    { kind: "choice", name: "status", label: crawl().outcome, options: STATUSES.map((value) => ({ value, label: crawl().pageStatus[value]! })) },
    { kind: "choice", name: "run", label: crawl().runOf, options: runs.map((run) => ({ value: run.id, label: dateTime(new Date(run.createdAt)) })) },
  ];
  return (
    <>
      <FilterChips filters={filters} values={{ status, run }} />
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton />}
      {list.rows && (
        <>
          {rows.length === 0
            ? <EmptyState icon="page" title={status ? crawl().noPagesOf : crawl().noPages} />
            : <DataTable caption={crawl().pages} rows={rows} keyOf={(page) => page.id} columns={columns(list.refresh)} />}
          <Pager list={list} />
        </>
      )}
    </>
  );
}

function columns(refresh: () => void): Column<CrawlPage>[] {
  const retry = (jobId: string) => attempt(async () => {
    await api.post("/api/jobs/{id}/retry", { path: { id: jobId } });
    toast(crawl().pageRetried);
    refresh();
  });
  return [
    { key: "page", title: crawl().url2, isMain: true, cell: (page) => page.documentId ? <a href={href(`/documents/${page.documentId}`)}><Name>{page.uri}</Name></a> : <Name>{page.uri}</Name> },
    { key: "status", title: crawl().outcome, cell: ({ status }) => <Badge tone={TONES[status] ?? "neutral"}>{crawl().pageStatus[status] ?? status}</Badge> },
    { key: "why", title: crawl().why, isOptional: true, cell: (page) => <Why page={page} /> },
    { key: "chunks", title: crawl().chunks, isNumber: true, cell: ({ chunkCount }) => <Count value={chunkCount} /> },
    { key: "updated", title: crawl().updated, isOptional: true, cell: ({ updatedAt }) => <Time value={updatedAt} /> },
    {
      key: "actions", title: "",
      cell: ({ status, jobId }) => status === "failed" && jobId !== null && may("editor")
        ? <Button kind="quiet" icon="retry" onClick={() => retry(jobId)}>{crawl().retryPage}</Button> : null,
    },
  ];
}

function Why({ page }: { page: CrawlPage }) {
  if (page.duplicateOf) return <>{crawl().copyOf} <Name>{page.duplicateOf}</Name></>;
  if (page.status === "kept" && !page.errorCode) return <>{crawl().keptWhy}</>;
  if (!page.errorCode) return null;
  const words = crawl().skips[page.errorCode] ?? reasonText(page.errorCode, page.errorMessage);
  return <span title={page.errorMessage ?? undefined}>{words} <code>{page.errorCode}</code></span>;
}
