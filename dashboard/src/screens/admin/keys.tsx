/** The keys of an application. */

import { Client, type ApiKey, type CreatedKey } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { watchedFetch } from "../../app/connection.ts";
import { api } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { CheckField, Form, SelectField, TextField, fieldError } from "../../components/fields.tsx";
import { Card } from "../../components/layout.tsx";
import { Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Name, shortId, Time } from "../../components/text.tsx";
import { toast } from "../../components/toasts.tsx";
import { useList } from "../../live/list.ts";
import { useResource } from "../../live/resource.ts";
import { admin } from "./messages.ts";
import { SecretDialog } from "./shared.tsx";

const ROLES = ["viewer", "editor", "admin"] as const;

export function Keys({ applicationId }: { applicationId: string }) {
  const list = useList({
    load: (cursor, signal) => api.get("/api/applications/{id}/keys", { path: { id: applicationId }, query: { cursor, limit: 50 }, signal }),
    dependencies: [applicationId],
    keyOf: (key: ApiKey) => key.id,
  });
  // Of the application that is named, not of the one that is chosen.
  const collections = useResource(
    (signal) => new Client({ baseUrl: api.baseUrl, applicationId, fetch: watchedFetch }).get("/api/collections", { query: { limit: 200 }, signal }),
    [applicationId],
  );
  const names = new Map((collections.data?.items ?? []).map(({ id, name }) => [id, name]));
  const [isAdding, setAdding] = useState(false);
  const [added, setAdded] = useState<CreatedKey>();
  const [revoked, setRevoked] = useState<ApiKey>();
  const revoke = async () => {
    await api.delete("/api/applications/{id}/keys/{keyId}", { path: { id: applicationId, keyId: revoked!.id } });
    toast(admin().keyRevoked);
    list.refresh();
  };
  return (
    <Card title={admin().keys} actions={<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>{admin().newKey}</Button>}>
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton />}
      {list.rows && (list.rows.length === 0
        ? <EmptyState icon="keys" title={admin().noKeys} />
        : <DataTable caption={admin().keys} rows={list.rows} keyOf={({ id }) => id} columns={columns(names, setRevoked)} />)}
      <Pager list={list} />
      {isAdding && (
        <Add applicationId={applicationId} collections={[...names]} onClose={() => setAdding(false)}
          onAdded={(key) => {
            setAdding(false);
            setAdded(key);
            list.refresh();
          }} />
      )}
      {added && (
        <SecretDialog title={admin().keyCreated(added.name)} secret={added.key}
          onClose={() => {
            setAdded(undefined);
            list.showFresh();
          }} />
      )}
      {revoked && (
        <ConfirmDialog isDangerous title={admin().revokeTitle(revoked.name)} action={admin().revoke} onConfirm={revoke} onClose={() => setRevoked(undefined)}>
          <p>{admin().revokeText}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

function columns(names: ReadonlyMap<string, string>, onRevoke: (key: ApiKey) => void): Column<ApiKey>[] {
  return [
    { key: "name", title: admin().name, isMain: true, cell: ({ name }) => <Name>{name}</Name> },
    { key: "role", title: admin().role, cell: ({ role }) => admin().rolesShort[role] },
    {
      key: "limit", title: admin().collections, isOptional: true,
      cell: ({ collectionIds }) => collectionIds === null ? admin().everything : collectionIds.map((id) => <div key={id}><Name>{names.get(id) ?? shortId(id)}</Name></div>),
    },
    { key: "prefix", title: admin().prefix, isOptional: true, cell: ({ prefix }) => <code>{prefix}</code> },
    { key: "used", title: admin().lastUsed, cell: ({ lastUsedAt }) => lastUsedAt ? <Time value={lastUsedAt} /> : admin().neverUsed },
    { key: "created", title: admin().created, isOptional: true, cell: ({ createdAt }) => <Time value={createdAt} /> },
    { key: "state", title: admin().state, cell: ({ revokedAt }) => revokedAt ? <Badge tone="neutral">{admin().revoked}</Badge> : <Badge tone="good">{admin().live}</Badge> },
    { key: "actions", title: "", cell: (key) => key.revokedAt === null && <Button kind="quiet" onClick={() => onRevoke(key)}>{admin().revoke}</Button> },
  ];
}

interface AddProps {
  applicationId: string;
  collections: readonly (readonly [string, string])[];
  onAdded: (key: CreatedKey) => void;
  onClose: () => void;
}

function Add({ applicationId, collections, onAdded, onClose }: AddProps) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<(typeof ROLES)[number]>("viewer");
  const [limit, setLimit] = useState<readonly string[]>([]);
  const add = async () => {
    const collectionIds = role === "viewer" && limit.length > 0 ? [...limit] : null;
    onAdded(await api.post("/api/applications/{id}/keys", { path: { id: applicationId }, body: { name, role, collectionIds } }));
  };
  return (
    <Dialog title={admin().newKey} onClose={onClose}>
      <Form submit={admin().createKey} onSubmit={add} fields={["name", "role"]}>
        {(error) => (
          <>
            <TextField label={admin().keyName} value={name} onValue={setName} error={fieldError(error, "name")} />
            <SelectField label={admin().role} value={role} onValue={setRole} options={ROLES.map((value) => ({ value, label: admin().roles[value] }))} />
            {role === "viewer" && collections.length > 0 && (
              <fieldset>
                <legend>{admin().limitedTo}</legend>
                <p class="hint">{admin().limitedHint}</p>
                {collections.map(([id, name]) => (
                  <CheckField key={id} label={name} checked={limit.includes(id)}
                    onValue={(isOn) => setLimit(isOn ? [...limit, id] : limit.filter((other) => other !== id))} />
                ))}
              </fieldset>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
