/** An action on the selected rows, or on all of the filter: counted first, then done by a job. */

import type { JobBulk, SourceBulk } from "@rag-ingest/client";
import { useState } from "preact/hooks";
import { path, readQuery, setQuery, text } from "../../app/router.ts";
import { api, may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { number } from "../../messages/format.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { BulkProgress } from "./bulk-progress.tsx";
import { bulk } from "./messages.ts";

export type Target = "sources" | "jobs";
export type BulkRequest = { sources: SourceBulk; jobs: JobBulk };
export type Action<T extends Target> = BulkRequest[T]["action"];

const ACTIONS: { [T in Target]: readonly Action<T>[] } = {
  sources: ["retry", "fetch_again", "read_again", "cancel", "set_metadata", "add_to_collection", "remove_from_collection", "set_chunking", "set_schedule", "delete"],
  jobs: ["retry", "cancel", "delete"],
};

export type Selection<T extends Target> = { ids: string[] } | { filter: NonNullable<BulkRequest[T]["filter"]> };

interface Chosen<T extends Target> {
  action: Action<T>;
  selection: Selection<T>;
}

interface Props<T extends Target> {
  of: T;
  /** The filter as the API takes it in bodies. */
  filter: NonNullable<BulkRequest[T]["filter"]>;
  selected: ReadonlySet<string>;
  /** Whether the filter finds nothing. */
  isEmpty: boolean;
  onClear: () => void;
  /** Rows have changed; `isEnded`: all of them. */
  onChange: (isEnded: boolean) => void;
}

/** Only for editors. The running job is in the address (`bulk`), so that a reload finds it. */
export function BulkAction<T extends Target>({ of, filter, selected, isEmpty, onClear, onChange }: Props<T>) {
  // As it is when the action is chosen: a period such as "the last hour" moves on.
  const [chosen, choose] = useState<Chosen<T>>();
  const { bulk: jobId } = readQuery({ bulk: text });
  if (!may("editor")) return null;
  const count = selected.size;
  const here = path.value;
  const start = async (body: BulkRequest[T]) => {
    const started = await post(of, body);
    // The reader may have gone on, and the job has its own screen.
    if (!("jobId" in started) || path.peek() !== here) return;
    setQuery({ bulk: started.jobId }, { replace: true });
    onClear();
  };
  return (
    <>
      {!isEmpty && <div class="bulk-bar">
        <select aria-label={bulk().label} value="" onChange={(event) => {
          choose({ action: event.currentTarget.value as Action<T>, selection: count ? { ids: [...selected] } : { filter } });
          event.currentTarget.value = "";
        }}>
          <option value="">{count ? bulk().chooseSelected(of, count, number(count)) : bulk().choose(of)}</option>
          {ACTIONS[of].map((name) => <option key={name} value={name}>{bulk().actions[name]}</option>)}
        </select>
        {count > 0 && <Button kind="quiet" onClick={onClear}>{bulk().clearSelection}</Button>}
      </div>}
      {jobId !== undefined && <BulkProgress key={jobId} jobId={jobId} onChange={onChange} />}
      {/* A dialog tells late that it was closed: the next one may be open by then. */}
      {chosen && <BulkDialog key={chosen} of={of} {...chosen} onStart={start} onClose={() => choose((now) => now === chosen ? undefined : now)} />}
    </>
  );
}

export function post<T extends Target>(of: T, body: BulkRequest[T]) {
  return of === "sources"
    ? api.post("/api/knowledge-sources/bulk", { body: body as SourceBulk })
    : api.post("/api/jobs/bulk", { body: body as JobBulk });
}
