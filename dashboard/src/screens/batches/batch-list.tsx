/** All uploads, newest first. */

import type { ListedBatch } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { LinkButton } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Count } from "../../components/text.tsx";
import { useList } from "../../live/list.ts";
import { dateTime } from "../../messages/format.ts";
import { sources } from "../sources/messages.ts";
import { batches } from "./messages.ts";
import { ShareList } from "./share-list.tsx";
import { sharesOf } from "./shares.ts";

export function BatchList() {
  const list = useList({
    load: (cursor, signal) => api.get("/api/batches", { query: { cursor, limit: 25 }, signal }),
    dependencies: [],
    keyOf: (batch: ListedBatch) => batch.id,
    every: 5000,
  });
  return (
    <ScreenFrame title={batches().title}>
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton lines={6} />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {list.rows.length === 0
            ? <EmptyState icon="batches" title={batches().empty}><p>{batches().emptyText}</p><LinkButton kind="primary" icon="upload" href={href("/upload")}>{sources().toDo.uploadFiles!}</LinkButton></EmptyState>
            : <DataTable caption={batches().caption} columns={columns()} rows={list.rows} keyOf={({ id }) => id} hrefOf={({ id }) => href(`/batches/${id}`)} />}
          <Pager list={list} />
        </>
      )}
    </ScreenFrame>
  );
}

function columns(): Column<ListedBatch>[] {
  const words = batches();
  return [
    { key: "when", title: words.when, isMain: true, cell: ({ createdAt }) => <time dateTime={createdAt}>{dateTime(new Date(createdAt))}</time> },
    { key: "state", title: words.state, cell: ({ completedAt, accepted }) => (completedAt === null && accepted > 0 ? <Badge tone="active" icon="play">{words.open}</Badge> : <Badge tone="good" icon="check">{words.done}</Badge>) },
    { key: "files", title: words.files, isNumber: true, cell: ({ total }) => <Count value={total} /> },
    { key: "states", title: words.states, cell: (batch) => (batch.states === null ? <small>{words.tooMany}</small> : <ShareList shares={sharesOf(batch, batch.states)} />) },
  ];
}
