/** Endpoints that are told of what has ended. */

import type { NewEndpoint, WebhookEndpoint, WithSecret } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href, navigate } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { CheckField, Form, TextField, fieldError } from "../../components/fields.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Name } from "../../components/text.tsx";
import { useList } from "../../live/list.ts";
import { relative } from "../../messages/format.ts";
import { titles } from "../../messages/titles.ts";
import { admin } from "./messages.ts";
import { Only, SecretDialog } from "./shared.tsx";

type EventName = NewEndpoint["events"][number];
const EVENTS: readonly EventName[] = [
  "source.completed", "source.partial", "source.failed", "source.review_needed", "batch.completed", "rescrape.completed", "job.failed",
];

export function Webhooks() {
  return (
    <ScreenFrame title={titles().webhooks} lead={admin().webhooksLead}>
      <Only role="admin"><List /></Only>
    </ScreenFrame>
  );
}

function List() {
  const list = useList({
    load: (cursor, signal) => api.get("/api/webhook-endpoints", { query: { cursor, limit: 50 }, signal }),
    dependencies: [],
    keyOf: (endpoint: WebhookEndpoint) => endpoint.id,
    every: 10_000,
  });
  const [isAdding, setAdding] = useState(false);
  const [added, setAdded] = useState<WithSecret>();
  const open = (id: string) => navigate(`/webhooks/${id}`);
  return (
    <>
      <div class="actions"><Button kind="primary" icon="plus" onClick={() => setAdding(true)}>{admin().newEndpoint}</Button></div>
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {list.rows.length === 0
            ? <EmptyState icon="webhooks" title={admin().noEndpoints}><p>{admin().noEndpointsText}</p></EmptyState>
            : <DataTable caption={admin().webhooks} rows={list.rows} keyOf={({ id }) => id} columns={columns()} hrefOf={({ id }) => href(`/webhooks/${id}`)} />}
          <Pager list={list} />
        </>
      )}
      {isAdding && (
        <EndpointDialog title={admin().newEndpoint} onClose={() => setAdding(false)}
          save={async (body) => {
            const endpoint = await api.post("/api/webhook-endpoints", { body });
            setAdding(false);
            if (endpoint.secret === null) open(endpoint.id);
            else setAdded(endpoint);
          }} />
      )}
      {added && <SecretDialog title={admin().secretOf} secret={added.secret!} onClose={() => open(added.id)} />}
    </>
  );
}

function columns(): Column<WebhookEndpoint>[] {
  return [
    { key: "url", title: admin().endpointUrl, isMain: true, cell: ({ url }) => <Name>{url}</Name> },
    { key: "description", title: admin().description, isOptional: true, cell: ({ description }) => <Name>{description}</Name> },
    { key: "events", title: admin().events, isOptional: true, cell: ({ events }) => events.join(", ") },
    { key: "state", title: admin().state, cell: (endpoint) => <Health endpoint={endpoint} /> },
  ];
}

export function Health({ endpoint }: { endpoint: WebhookEndpoint }) {
  if (!endpoint.isEnabled) return <Badge tone="bad" icon="minus" {...(endpoint.disabledReason && { title: endpoint.disabledReason })}>{admin().endpointDisabled}</Badge>;
  if (endpoint.failingSince) return <Badge tone="warning" icon="warning">{admin().failing(relative(new Date(endpoint.failingSince)))}</Badge>;
  return <Badge tone="good" icon="check">{admin().healthy}</Badge>;
}

interface EndpointDialogProps {
  title: string;
  endpoint?: WebhookEndpoint;
  save: (body: NewEndpoint) => Promise<void>;
  onClose: () => void;
}

export function EndpointDialog({ title, endpoint, save, onClose }: EndpointDialogProps) {
  const [url, setUrl] = useState(endpoint?.url ?? "");
  const [description, setDescription] = useState(endpoint?.description ?? "");
  const [events, setEvents] = useState<readonly EventName[]>(endpoint?.events ?? ["batch.completed", "job.failed"]);
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit={admin().save} fields={["url", "description", "events"]} onSubmit={() => save({ url, description, events: EVENTS.filter((name) => events.includes(name)) })}>
        {(error) => (
          <>
            <TextField label={admin().endpointUrl} hint={admin().endpointUrlHint} value={url} onValue={setUrl} error={fieldError(error, "url")} />
            <TextField label={admin().description} value={description} onValue={setDescription} error={fieldError(error, "description")} />
            <fieldset>
              <legend>{admin().events}</legend>
              {EVENTS.map((name) => (
                <CheckField key={name} label={admin().eventNames[name]} hint={name} checked={events.includes(name)}
                  onValue={(isOn) => setEvents(isOn ? [...events, name] : events.filter((other) => other !== name))} />
              ))}
              {fieldError(error, "events") && <p class="field-error">{fieldError(error, "events")}</p>}
            </fieldset>
          </>
        )}
      </Form>
    </Dialog>
  );
}
