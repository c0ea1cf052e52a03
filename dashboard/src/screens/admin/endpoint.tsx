/** One endpoint: its health, its secret, and every delivery with what was sent and answered. */

import type { Delivery, DeliveryWithBody, WebhookEndpoint, WithSecret } from "@rag-ingest/client";
import { useEffect, useState } from "preact/hooks";
import { navigate, oneOf, readQuery } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { FilterChips } from "../../components/filter-chips.tsx";
import { CodeBlock, KeyValues, ScreenFrame } from "../../components/layout.tsx";
import { components } from "../../components/messages.ts";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { StatusBadge } from "../../components/status.tsx";
import { Missing, Name, Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useList } from "../../live/list.ts";
import { useResource } from "../../live/resource.ts";
import { number } from "../../messages/format.ts";
import { titles } from "../../messages/titles.ts";
import { admin } from "./messages.ts";
import { Only, SecretDialog } from "./shared.tsx";
import { EndpointDialog, Health } from "./webhooks.tsx";

const STATUSES = ["pending", "delivered", "failed"] as const;
/** While a message is on its way. */
const SOON = 1000;

type Shown = Pick<Delivery, "id" | "event">;

export function Endpoint({ params: { id } }: { params: { id: string } }) {
  return <Only role="admin"><Loaded id={id} /></Only>;
}

function Loaded({ id }: { id: string }) {
  const found = useResource((signal) => api.get("/api/webhook-endpoints/{id}", { path: { id }, signal }), [id], { every: 10_000 });
  const deliveries = useDeliveries(id);
  const [asked, setAsked] = useState<"edit" | "rotate" | "delete">();
  const [shown, setShown] = useState<Shown>();
  const [rotated, setRotated] = useState<WithSecret>();
  if (found.error !== undefined && !found.data) return <ErrorCard error={found.error} onRetry={found.refresh} />;
  if (!found.data) return <Skeleton />;
  const endpoint = found.data;
  const close = () => setAsked(undefined);
  const enable = (isEnabled: boolean) => attempt(async () => {
    found.set(await api.patch("/api/webhook-endpoints/{id}", { path: { id }, body: { isEnabled } }));
    toast(isEnabled ? admin().endpointEnabled : admin().endpointDisabledNow);
  });
  const test = () => attempt(async () => {
    const { deliveryId } = await api.post("/api/webhook-endpoints/{id}/test", { path: { id } });
    setShown({ id: deliveryId, event: "endpoint.test" });
    deliveries.refresh();
  });
  return (
    <ScreenFrame title={<Name>{endpoint.url}</Name>} parent={{ title: titles().webhooks, path: "/webhooks" }} lead={<Name>{endpoint.description}</Name>}
      actions={(
        <>
          <Button icon="play" disabled={!endpoint.isEnabled} onClick={test}>{admin().test}</Button>
          <Button onClick={() => setAsked("edit")}>{admin().edit}</Button>
          {!endpoint.url.startsWith("mailto:") && <Button icon="keys" onClick={() => setAsked("rotate")}>{admin().rotate}</Button>}
          <Button onClick={() => enable(!endpoint.isEnabled)}>{endpoint.isEnabled ? admin().disable : admin().enable}</Button>
          <Button kind="danger" icon="trash" onClick={() => setAsked("delete")}>{admin().remove}</Button>
        </>
      )}>
      <div class="status-line"><Health endpoint={endpoint} /><span>{endpoint.events.join(", ")}</span></div>
      <Deliveries id={id} list={deliveries} onShow={setShown} />
      {shown && <Conversation key={shown.id} endpoint={endpoint} delivery={shown} onClose={() => setShown(undefined)} />}
      {asked === "edit" && (
        <EndpointDialog title={admin().edit} endpoint={endpoint} onClose={close}
          save={async (body) => {
            found.set(await api.patch("/api/webhook-endpoints/{id}", { path: { id }, body }));
            close();
          }} />
      )}
      {asked === "rotate" && (
        <ConfirmDialog title={admin().rotateTitle} action={admin().rotate} onClose={close}
          onConfirm={async () => setRotated(await api.post("/api/webhook-endpoints/{id}/rotate-secret", { path: { id } }))}>
          <p>{admin().rotateText}</p>
        </ConfirmDialog>
      )}
      {rotated && <SecretDialog title={admin().secretOf} secret={rotated.secret ?? ""} onClose={() => setRotated(undefined)} />}
      {asked === "delete" && (
        <ConfirmDialog isDangerous title={admin().deleteEndpointTitle} action={admin().deleteEndpoint} onClose={close}
          onConfirm={async () => {
            await api.delete("/api/webhook-endpoints/{id}", { path: { id } });
            toast(admin().endpointDeleted);
            navigate("/webhooks");
          }}>
          <p>{admin().deleteEndpointText}</p>
        </ConfirmDialog>
      )}
    </ScreenFrame>
  );
}

function useDeliveries(id: string) {
  const { status } = readQuery({ status: oneOf(STATUSES) });
  return useList({
    load: (cursor, signal) => api.get("/api/webhook-endpoints/{id}/deliveries", { path: { id }, query: { status, cursor, limit: 50 }, signal }),
    dependencies: [id, status],
    keyOf: (delivery: Delivery) => delivery.id,
    every: 5000,
  });
}

function Deliveries({ id, list, onShow }: { id: string; list: ReturnType<typeof useDeliveries>; onShow: (delivery: Shown) => void }) {
  const values = readQuery({ status: oneOf(STATUSES) });
  const replay = (delivery: Delivery) => attempt(async () => {
    await api.post("/api/webhook-endpoints/{id}/deliveries/{deliveryId}/replay", { path: { id, deliveryId: delivery.id } });
    toast(admin().replayed);
    list.refresh();
  });
  const columns: Column<Delivery>[] = [
    { key: "event", title: admin().event, isMain: true, cell: ({ event }) => event },
    { key: "status", title: admin().state, cell: ({ status }) => <StatusBadge status={status} /> },
    { key: "answer", title: admin().answer, cell: ({ lastStatus, lastError, attempts }) => attempts === 0 ? <Missing /> : <Name>{[lastStatus ?? admin().noAnswer, lastError].filter(Boolean).join(" ")}</Name> },
    { key: "tries", title: admin().tries, isNumber: true, isOptional: true, cell: ({ attempts }) => number(attempts) },
    { key: "created", title: admin().created, isOptional: true, cell: ({ createdAt }) => <Time value={createdAt} /> },
    {
      key: "actions", title: "",
      cell: (delivery) => (
        <div class="row-actions">
          <Button kind="quiet" onClick={() => onShow(delivery)}>{admin().showBody}</Button>
          {delivery.status !== "pending" && <Button kind="quiet" icon="retry" onClick={() => replay(delivery)}>{admin().replay}</Button>}
        </div>
      ),
    },
  ];
  return (
    <section aria-label={admin().deliveries}>
      <FilterChips values={values} filters={[{ kind: "choice", name: "status", label: admin().state, options: STATUSES.map((value) => ({ value, label: components().status[value]! })) }]} />
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {list.rows.length === 0
            ? <EmptyState icon="webhooks" title={admin().noDeliveries} />
            : <DataTable caption={admin().deliveries} rows={list.rows} keyOf={(delivery) => delivery.id} columns={columns} />}
          <Pager list={list} />
        </>
      )}
    </section>
  );
}

/** What was sent, with its signature, and what came back. */
/** Whether its first attempt has not ended yet. */
function isUnanswered({ status, lastStatus, lastError }: Delivery): boolean {
  return status === "pending" && lastStatus === null && lastError === null;
}

function Conversation({ endpoint: { id, url }, delivery, onClose }: { endpoint: WebhookEndpoint; delivery: Shown; onClose: () => void }) {
  const [isOpen, setOpen] = useState(true);
  const found = useResource(
    (signal) => api.get("/api/webhook-endpoints/{id}/deliveries/{deliveryId}", { path: { id, deliveryId: delivery.id }, signal }),
    [delivery.id], { every: isOpen ? SOON : undefined },
  );
  const { data } = found;
  useEffect(() => setOpen(data === undefined || data.status === "pending"), [data?.status]);
  return (
    <Dialog title={admin().deliveryTitle(delivery.event)} onClose={onClose} isWide>
      {found.error !== undefined && <ErrorCard error={found.error} onRetry={found.refresh} />}
      {found.isLoading && <Skeleton lines={3} />}
      {data && (
        <>
          <p class="status-line" role="status"><StatusBadge status={data.status} /> {isUnanswered(data) && admin().sending}</p>
          <KeyValues items={[
            [admin().answer, isUnanswered(data) ? null : data.lastStatus ?? admin().noAnswer],
            [admin().why, data.lastError && <Name>{data.lastError}</Name>],
            [admin().tries, number(data.attempts)],
          ]} />
          <h3>{admin().request}</h3>
          <CodeBlock text={requestOf(url, data)} label={admin().request} />
          {data.lastStatus !== null && (
            <>
              <h3>{admin().answer}</h3>
              {data.answer === null ? <p class="hint">{admin().emptyAnswer}</p> : <CodeBlock text={data.answer} label={admin().answer} />}
            </>
          )}
        </>
      )}
    </Dialog>
  );
}

function requestOf(url: string, { headers, body }: DeliveryWithBody): string {
  const head = url.startsWith("mailto:") ? [url] : [`POST ${url}`, ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`)];
  return `${head.join("\n")}\n\n${pretty(body)}`;
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
