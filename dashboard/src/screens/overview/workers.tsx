/** The workers of the installation: who is alive, and how busy. */

import type { Items } from "@rag-ingest/client";
import { api } from "../../app/session.ts";
import { DataTable } from "../../components/data-table.tsx";
import { Problem } from "../../components/fields.tsx";
import { Id } from "../../components/layout.tsx";
import { Skeleton } from "../../components/states.tsx";
import { Badge, Meter } from "../../components/status.tsx";
import { Name, Time } from "../../components/text.tsx";
import { useResource } from "../../live/resource.ts";
import { duration, number } from "../../messages/format.ts";
import { overview } from "./messages.ts";

type Worker = Items<"/api/workers">;

const EVERY = 10_000;
const SHOWN = 20;

export function Workers() {
  const { data, error } = useResource((signal) => api.get("/api/workers", { query: { limit: SHOWN }, signal }), [], { every: EVERY });
  if (data === undefined) return error === undefined ? <Skeleton lines={2} /> : <Problem error={error} />;
  if (!data.items.length) return <p class="hint">{overview().noWorkers}<code>ingest worker</code>.</p>;
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <DataTable caption={overview().workersCaption} rows={data.items} keyOf={({ id }) => id}
        columns={[
          { key: "worker", title: overview().worker, isMain: true, cell: (worker) => <Who worker={worker} /> },
          { key: "state", title: overview().state, cell: (worker) => <State worker={worker} /> },
          { key: "busy", title: overview().busy, cell: (worker) => <Busy worker={worker} /> },
          { key: "heartbeat", title: overview().heartbeat, isOptional: true, cell: ({ silentSeconds }) => <span class="nowrap">{overview().ago(duration(Math.max(1, Math.round(silentSeconds)) * 1000))}</span> },
        ]} />
      {data.nextCursor !== null && <p class="hint">{overview().moreWorkers}</p>}
    </>
  );
}

/** Hosts are shown to the operator only. */
function Who({ worker: { host, pid, id, startedAt } }: { worker: Worker }) {
  return (
    <>
      {host === null ? <Id value={id} /> : <Name>{host}</Name>}
      {pid !== null && <small>{overview().process(pid)}</small>}
      <small>{overview().started} <Time value={startedAt} /></small>
    </>
  );
}

function State({ worker: { isAlive, isDraining } }: { worker: Worker }) {
  if (!isAlive) return <Badge tone="bad" icon="cross">{overview().silent}</Badge>;
  if (isDraining) return <Badge tone="warning" icon="minus">{overview().draining}</Badge>;
  return <Badge tone="good" icon="check">{overview().alive}</Badge>;
}

function Busy({ worker: { running, slots } }: { worker: Worker }) {
  if (slots === null) return <>{number(running)}</>;
  const text = overview().ofSlots(number(running), number(slots));
  return <span class="busy"><Meter value={running} max={slots} high={1} label={text} />{text}</span>;
}
