/** Providers, each of which can be paused alone. */

import type { ProviderView } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { IconButton } from "../../components/button.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/fields.tsx";
import { Card } from "../../components/layout.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Name, Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useResource } from "../../live/resource.ts";
import { admin } from "./messages.ts";

const EVERY = 5000;

export function Providers() {
  const found = useResource((signal) => api.get("/api/worker/provider", { signal }), [], { every: EVERY });
  const [asked, setAsked] = useState<ProviderView>();
  const resume = ({ name }: ProviderView) => attempt(async () => {
    await api.delete("/api/worker/provider/pause", { query: { name } });
    toast(admin().providerResumed(name));
    found.refresh();
  });
  return (
    <Card title={admin().providers}>
      <p class="lead">{admin().providersLead}</p>
      {found.error !== undefined && <ErrorCard error={found.error} onRetry={found.refresh} />}
      {found.isLoading && <Skeleton lines={2} />}
      {found.data && (
        <DataTable caption={admin().providers} rows={found.data.items} keyOf={({ name }) => name}
          columns={[
            { key: "name", title: admin().provider, isMain: true, cell: ({ name, note }) => <><Name>{name}</Name>{note && <small><Name>{note}</Name></small>}</> },
            { key: "use", title: admin().use, cell: ({ use }) => use ? admin().uses[use] : admin().notInUse },
            { key: "state", title: admin().state, cell: (row) => <State provider={row} /> },
            {
              key: "actions", title: "",
              cell: (row) => (
                <div class="row-actions">
                  {row.isPaused
                    ? <IconButton icon="play" label={admin().resumeProvider(row.name)} onClick={() => resume(row)} />
                    : <IconButton icon="pause" label={admin().pauseProvider(row.name)} onClick={() => setAsked(row)} />}
                </div>
              ),
            },
          ]} />
      )}
      {asked && (
        <Pause name={asked.name} onClose={() => setAsked(undefined)}
          onDone={() => {
            toast(admin().providerPaused(asked.name));
            found.refresh();
          }} />
      )}
    </Card>
  );
}

function State({ provider: { isPaused, pausedSince } }: { provider: ProviderView }) {
  if (!isPaused) return <Badge tone="good" icon="check">{admin().on}</Badge>;
  return (
    <>
      <Badge tone="warning" icon="pause">{admin().paused}</Badge>
      {pausedSince && <> <small>{admin().since} <Time value={pausedSince} /></small></>}
    </>
  );
}

function Pause({ name, onClose, onDone }: { name: string; onClose: () => void; onDone: () => void }) {
  const [note, setNote] = useState("");
  const pause = async () => {
    await api.post("/api/worker/provider/pause", { body: { name, note: note.trim() || null } });
    onDone();
  };
  return (
    <ConfirmDialog title={admin().pauseProviderTitle(name)} action={admin().pause} onConfirm={pause} onClose={onClose}>
      <p>{admin().pauseProviderText}</p>
      <TextField label={admin().pauseNote} hint={admin().pauseNoteHint} value={note} onValue={setNote} maxLength={500} />
    </ConfirmDialog>
  );
}
