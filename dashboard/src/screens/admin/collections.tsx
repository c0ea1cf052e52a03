/** Collections: named sets of sources, and what is in one. */

import type { Collection, Source } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { href, navigate } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { DataTable, type Column } from "../../components/data-table.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { Form, TextArea, TextField, fieldError } from "../../components/fields.tsx";
import { ScreenFrame } from "../../components/layout.tsx";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { StatusBadge } from "../../components/status.tsx";
import { Count, Name, Time } from "../../components/text.tsx";
import { attempt, toast } from "../../components/toasts.tsx";
import { useList } from "../../live/list.ts";
import { useResource } from "../../live/resource.ts";
import { number } from "../../messages/format.ts";
import { titles } from "../../messages/titles.ts";
import { admin } from "./messages.ts";
import { SourcePicker } from "./source-picker.tsx";

export function Collections() {
  const list = useList({
    load: (cursor, signal) => api.get("/api/collections", { query: { cursor, limit: 50 }, signal }),
    dependencies: [],
    keyOf: (collection: Collection) => collection.id,
  });
  const [isAdding, setAdding] = useState(false);
  return (
    <ScreenFrame title={titles().collections} lead={admin().collectionsLead}
      actions={may("editor") && <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>{admin().newCollection}</Button>}>
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {list.rows.length === 0
            ? <EmptyState icon="collections" title={admin().noCollections}><p>{admin().noCollectionsText}</p></EmptyState>
            : <DataTable caption={admin().collections} rows={list.rows} keyOf={({ id }) => id} columns={COLUMNS()} hrefOf={({ id }) => href(`/collections/${id}`)} />}
          <Pager list={list} />
        </>
      )}
      {isAdding && (
        <CollectionDialog title={admin().newCollection} onClose={() => setAdding(false)}
          save={async (body) => {
            const { id } = await api.post("/api/collections", { body });
            navigate(`/collections/${id}`);
          }} />
      )}
    </ScreenFrame>
  );
}

const COLUMNS = (): Column<Collection>[] => [
  { key: "name", title: admin().name, isMain: true, cell: ({ name }) => <Name>{name}</Name> },
  { key: "description", title: admin().description, isOptional: true, cell: ({ description }) => <Name>{description}</Name> },
  { key: "members", title: admin().members, isNumber: true, cell: ({ sourceCount }) => <Count value={sourceCount} /> },
  { key: "created", title: admin().created, isOptional: true, cell: ({ createdAt }) => <Time value={createdAt} /> },
];

interface CollectionDialogProps {
  title: string;
  collection?: Collection;
  save: (body: { name: string; description: string }) => Promise<void>;
  onClose: () => void;
}

function CollectionDialog({ title, collection, save, onClose }: CollectionDialogProps) {
  const [name, setName] = useState(collection?.name ?? "");
  const [description, setDescription] = useState(collection?.description ?? "");
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit={admin().save} onSubmit={() => save({ name, description })} fields={["name", "description"]}>
        {(error) => (
          <>
            <TextField label={admin().name} value={name} onValue={setName} error={fieldError(error, "name")} />
            <TextArea label={admin().description} value={description} onValue={setDescription} error={fieldError(error, "description")} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

export function CollectionView({ params: { id } }: { params: { id: string } }) {
  const found = useResource((signal) => api.get("/api/collections/{id}", { path: { id }, signal }), [id]);
  const members = useList({
    load: (cursor, signal) => api.get("/api/knowledge-sources", { query: { collectionId: id, cursor, limit: 50 }, signal }),
    dependencies: [id],
    keyOf: (source: Source) => source.id,
  });
  const [asked, setAsked] = useState<"edit" | "delete" | "add">();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const close = () => setAsked(undefined);
  if (found.error !== undefined && !found.data) return <ErrorCard error={found.error} onRetry={found.refresh} />;
  if (!found.data) return <Skeleton />;
  const collection = found.data;
  const change = async (body: { add?: string[]; remove?: string[] }) => {
    await api.post("/api/collections/{id}/knowledge-sources", { path: { id }, body });
    found.refresh();
    members.refresh();
  };
  const takeOut = (source: Source) => attempt(async () => {
    await change({ remove: [source.id] });
    setGone(new Set([...gone, source.id]));
    toast(admin().takenOut);
  });
  const actions: Column<Source> = { key: "actions", title: "", cell: (source) => <Button kind="quiet" onClick={() => takeOut(source)}>{admin().takeOut}</Button> };
  // A list keeps its rows until it is shown anew.
  const rows = (members.rows ?? []).filter((source) => !gone.has(source.id));
  return (
    <ScreenFrame title={<Name>{collection.name}</Name>} parent={{ title: titles().collections, path: "/collections" }} lead={<Name>{collection.description}</Name>}
      actions={may("editor") && (
        <>
          <Button kind="primary" icon="plus" onClick={() => setAsked("add")}>{admin().addMembers}</Button>
          <LinkButton icon="search" href={href("/search", { collections: id })}>{admin().searchIn}</LinkButton>
          <LinkButton href={href("/sources", { collectionId: id })}>{admin().changeMembers}</LinkButton>
          <Button onClick={() => setAsked("edit")}>{admin().edit}</Button>
          <Button kind="danger" icon="trash" onClick={() => setAsked("delete")}>{admin().remove}</Button>
        </>
      )}>
      {members.error !== undefined && <ErrorCard error={members.error} onRetry={members.refresh} />}
      {members.isLoading && <Skeleton />}
      {members.rows && (
        <>
          <FreshRows list={members} />
          {rows.length === 0
            ? <EmptyState icon="collections" title={admin().noMembers}>{may("editor") && <p>{admin().noMembersText}</p>}</EmptyState>
            : <DataTable caption={admin().members} rows={rows} keyOf={(source) => source.id} columns={[...MEMBERS(), ...(may("editor") ? [actions] : [])]} />}
          <Pager list={members} />
        </>
      )}
      {asked === "edit" && (
        <CollectionDialog title={admin().edit} collection={collection} onClose={close}
          save={async (body) => {
            found.set(await api.patch("/api/collections/{id}", { path: { id }, body }));
            close();
          }} />
      )}
      {asked === "delete" && (
        <ConfirmDialog isDangerous title={admin().deleteCollectionTitle(collection.name, collection.sourceCount, number(collection.sourceCount))}
          action={admin().deleteCollection} onClose={close}
          onConfirm={async () => {
            await api.delete("/api/collections/{id}", { path: { id } });
            toast(admin().collectionDeleted);
            navigate("/collections");
          }}>
          <p>{admin().deleteCollectionText} <a href={href("/sources", { collectionId: id })}>{admin().deleteMembers}</a></p>
        </ConfirmDialog>
      )}
      {asked === "add" && (
        <SourcePicker collectionId={id} onClose={close}
          onAdd={async (added) => {
            await change({ add: added });
            setGone(new Set([...gone].filter((other) => !added.includes(other))));
            toast(admin().membersAdded(added.length, number(added.length)));
            close();
            members.reload();
          }} />
      )}
    </ScreenFrame>
  );
}

const MEMBERS = (): Column<Source>[] => [
  { key: "name", title: admin().name, isMain: true, cell: ({ id, uri }) => <a href={href(`/sources/${id}`)}><Name>{uri}</Name></a> },
  { key: "status", title: admin().state, cell: ({ status }) => <StatusBadge status={status} /> },
  { key: "created", title: admin().created, isOptional: true, cell: ({ createdAt }) => <Time value={createdAt} /> },
];
