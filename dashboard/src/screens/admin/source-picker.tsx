/** Chooses sources by a part of their name or path, and puts them into a collection. */

import type { Source } from "@rag-ingest/client";
import { useEffect, useState } from "preact/hooks";
import { href } from "../../app/router.ts";
import { api } from "../../app/session.ts";
import { Dialog } from "../../components/dialog.tsx";
import { CheckField, Form, TextField } from "../../components/fields.tsx";
import { ErrorCard, Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { number } from "../../messages/format.ts";
import { admin } from "./messages.ts";

/** Rows that are offered: whoever wants more writes more, or takes all of a filter. */
const MOST = 20;

export function SourcePicker({ collectionId, onAdd, onClose }: { collectionId: string; onAdd: (ids: string[]) => Promise<void>; onClose: () => void }) {
  const [draft, setDraft] = useState("");
  const q = useSettled(draft.trim());
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const found = useResource((signal) => api.get("/api/knowledge-sources", { query: { q: q || undefined, limit: MOST }, signal }), [q]);
  const toggle = ({ id }: Source, isOn: boolean) => setChosen(new Set(isOn ? [...chosen, id] : [...chosen].filter((other) => other !== id)));
  return (
    <Dialog title={admin().addMembers} onClose={onClose} isWide>
      <Form submit={admin().addChosen(chosen.size, number(chosen.size))} onSubmit={async () => chosen.size > 0 && onAdd([...chosen])}>
        {() => (
          <>
            <TextField label={admin().findMembers} value={draft} onValue={setDraft} />
            <div class="picker" role="group" aria-label={admin().members}>
              {found.error !== undefined && <ErrorCard error={found.error} onRetry={found.refresh} />}
              {found.isLoading && <Skeleton lines={3} />}
              {found.data?.items.length === 0 && <p class="missing">{admin().noSuchSource}</p>}
              {found.data?.items.map((source) => {
                const isIn = source.collectionIds.includes(collectionId);
                return <CheckField key={source.id} label={source.uri} checked={isIn || chosen.has(source.id)} disabled={isIn} onValue={(isOn) => toggle(source, isOn)} />;
              })}
            </div>
            <p class="hint">{admin().manyMembers} <a href={href("/sources")}>{admin().toSources}</a></p>
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** A text once typing rests. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
