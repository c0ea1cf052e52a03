/** Applications: all of them for the operator; an admin sees the own one at once. */

import type { Application } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href, navigate } from "../../app/router.ts";
import { api, may, me } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Form, TextField, fieldError } from "../../components/fields.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Name, Time } from "../../components/text.tsx";
import { toast } from "../../components/toasts.tsx";
import { useList } from "../../live/list.ts";
import { number } from "../../messages/format.ts";
import { ApplicationView } from "./application.tsx";
import { titles } from "../../messages/titles.ts";
import { admin } from "./messages.ts";
import { Only } from "./shared.tsx";

export function Applications() {
  if (may("operator")) return <List />;
  const own = me().application;
  if (own && may("admin")) return <ApplicationView params={{ id: own.id }} />;
  return <ScreenFrame title={titles().applications}><Only role="admin">{null}</Only></ScreenFrame>;
}

function List() {
  const [isAdding, setAdding] = useState(false);
  const list = useList({
    load: (cursor, signal) => api.get("/api/applications", { query: { cursor, limit: 50 }, signal }),
    dependencies: [],
    keyOf: (application: Application) => application.id,
  });
  return (
    <ScreenFrame title={titles().applications} lead={admin().applicationsLead}
      actions={<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>{admin().newApplication}</Button>}>
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          <DataTable caption={admin().applications} rows={list.rows} keyOf={({ id }) => id} columns={columns()} hrefOf={({ id }) => href(`/applications/${id}`)} />
          <Pager list={list} />
        </>
      )}
      {isAdding && <Add onClose={() => setAdding(false)} />}
    </ScreenFrame>
  );
}

function columns(): Column<Application>[] {
  return [
    { key: "name", title: admin().name, isMain: true, cell: ({ name }) => <Name>{name}</Name> },
    { key: "default", title: "", cell: ({ isDefault }) => isDefault ? <Badge>{admin().isDefault}</Badge> : null },
    { key: "weight", title: admin().weight, isNumber: true, cell: ({ settings }) => number(settings.weight) },
    { key: "tokens", title: admin().tokensPerDay, isNumber: true, isOptional: true, cell: ({ settings }) => settings.tokensPerDay === null ? admin().unlimited : number(settings.tokensPerDay) },
    { key: "created", title: admin().created, isOptional: true, cell: ({ createdAt }) => <Time value={createdAt} /> },
  ];
}

function Add({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const add = async () => {
    const added = await api.post("/api/applications", { body: { name } });
    toast(admin().applicationAdded(name));
    navigate(`/applications/${added.id}`);
  };
  return (
    <Dialog title={admin().newApplication} onClose={onClose}>
      <Form submit={admin().newApplication} onSubmit={add} fields={["name"]}>
        {(error) => <TextField label={admin().name} value={name} onValue={setName} error={fieldError(error, "name")} />}
      </Form>
    </Dialog>
  );
}
