/** The events of a source, newest first, live: none is lost or shown twice. */

import type { LiveMessage, Source } from "@rag-ingest/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, liveState } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Time } from "../../components/text.tsx";
import { useLiveSources } from "../../live/sources.ts";
import { number } from "../../messages/format.ts";
import { EventLog, type LoggedEvent } from "./event-log.ts";
import { sources } from "./messages.ts";

/** Read at once; what is shown first. */
const PAGE = 100;

export function SourceEvents({ source }: { source: Source }) {
  const log = useRef(new EventLog());
  const reading = useRef(false);
  const [shown, show] = useState<LoggedEvent[]>();
  const [error, setError] = useState<unknown>();
  const read = async (after: number) => {
    if (reading.current) return;
    reading.current = true;
    try {
      const page = await api.get("/api/knowledge-sources/{id}/events", { path: { id: source.id }, query: { after, limit: PAGE } });
      for (const { seq, type, data, createdAt } of page.items) log.current.add({ seq, type, data, at: createdAt });
      setError(undefined);
      show(log.current.newestFirst());
    } catch (failure) {
      setError(failure);
    } finally {
      reading.current = false;
    }
    const gap = log.current.gap();
    if (gap !== undefined && gap !== after) await read(gap);
  };
  const onMessage = ({ type, seq, knowledgeSourceId: _, at, ...data }: LiveMessage) => {
    if (type === "snapshot" || seq === undefined) return;
    log.current.add({ seq, type, data, at: typeof at === "string" ? at : undefined });
    show(log.current.newestFirst());
    const gap = log.current.gap();
    if (gap !== undefined) void read(gap);
  };
  useLiveSources([source.id], undefined, onMessage);
  // Again after each reconnect: the service sends what was missed, but not beyond what it keeps.
  useEffect(() => void read(log.current.lastSeq || Math.max(0, source.eventSeq - PAGE)), [source.id, liveState.value]);
  if (error !== undefined && !shown) return <ErrorCard error={error} onRetry={() => void read(0)} />;
  if (!shown) return <Skeleton />;
  if (!shown.length) return <EmptyState icon="clock" title={sources().noEvents} />;
  const { before } = log.current;
  return (
    <>
      <DataTable caption={sources().eventsOf} rows={shown} keyOf={({ seq }) => String(seq)} columns={[
        { key: "seq", title: "#", isNumber: true, cell: ({ seq }) => number(seq) },
        { key: "type", title: sources().event, cell: ({ type }) => <code>{type}</code> },
        { key: "details", title: sources().details, isMain: true, cell: ({ data }) => <bdi dir="auto">{detailsOf(data)}</bdi> },
        { key: "time", title: sources().time, cell: ({ at }) => <Time value={at} /> },
      ]} />
      {before > 0 && <Button onClick={() => void read(Math.max(0, before - PAGE))}>{sources().earlierEvents}</Button>}
    </>
  );
}

function detailsOf(data: LoggedEvent["data"]): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(" · ");
}
