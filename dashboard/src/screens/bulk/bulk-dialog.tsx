/** What a bulk action would do, the values that it needs, and the button that does it. */

import type { BulkPlan, Collection, SourceBulk } from "@rag-ingest/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { fieldError, Problem, SelectField, TextArea, TextField } from "../../components/fields.tsx";
import { components } from "../../components/messages.ts";
import { useResource } from "../../live/resource.ts";
import { boundedCount, number } from "../../messages/format.ts";
import { post, type Action, type BulkRequest, type Selection, type Target } from "./bulk-action.tsx";
import { ChunkingFields, type ChunkingDraft } from "./chunking-fields.tsx";
import { bulk } from "./messages.ts";
import { parseMetadata, WrongLine } from "./metadata-lines.ts";

interface Props<T extends Target> {
  of: T;
  action: Action<T>;
  selection: Selection<T>;
  onStart: (body: BulkRequest[T]) => Promise<void>;
  onClose: () => void;
}

/** More rows than this are confirmed by typing their number. */
const MANY = 100;

interface Draft {
  metadata: string;
  collectionId: string;
  chunking: ChunkingDraft;
  cron: string;
  timezone: string;
}

export function BulkDialog<T extends Target>({ of, action, selection, onStart, onClose }: Props<T>) {
  const [draft, setDraft] = useState<Draft>({
    metadata: "",
    collectionId: "",
    chunking: {},
    cron: "",
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  });
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const [typed, setTyped] = useState("");
  const { values, problem } = valuesOf(action, draft);
  const plan = usePlan(of, values && ({ action, ...selection, ...values } as BulkRequest[T]));
  const eligible = plan.data?.eligible ?? 0;
  const shown = boundedCount(eligible, plan.data !== undefined && !plan.data.isExact);
  const mustType = action === "delete" && eligible > MANY;
  const error = failure ?? plan.error;
  const confirm = async () => {
    setBusy(true);
    try {
      await onStart({ action, ...selection, ...values } as BulkRequest[T]);
      onClose();
    } catch (reason) {
      setFailure(reason);
      setBusy(false);
    }
  };
  const footer = (
    <>
      <Button onClick={onClose}>{components().cancel}</Button>
      <Button kind={action === "delete" ? "danger" : "primary"} isBusy={isBusy} onClick={confirm}
        disabled={!plan.data || eligible === 0 || (mustType && typed !== String(eligible))}>
        {eligible ? bulk().confirm(action, of, eligible, shown) : bulk().actions[action]!}
      </Button>
    </>
  );
  return (
    <Dialog title={bulk().title(action, of)} onClose={onClose} footer={footer}>
      <div class="stack">
        <Values action={action} draft={draft} problem={problem} error={error} onDraft={(change) => setDraft({ ...draft, ...change })} />
        <PlanText of={of} action={action} plan={plan.data} isCounting={values !== undefined && plan.isLoading} shown={shown} />
        <p class="hint">{action === "delete" && of === "sources" ? bulk().undo : bulk().onlyNow}</p>
        {mustType && (
          <TextField label={components().typeToConfirm(String(eligible))} value={typed} onValue={setTyped} />
        )}
        {error !== undefined && <Problem error={error} />}
      </div>
    </Dialog>
  );
}

function PlanText({ of, action, plan, isCounting, shown }: { of: Target; action: string; plan: BulkPlan | undefined; isCounting: boolean; shown: string }) {
  if (!plan) return <p role="status">{isCounting && bulk().counting}</p>;
  return (
    <div role="status" class="plan">
      <p><strong>{plan.eligible ? bulk()[action === "delete" ? "deleted" : "eligible"](of, plan.eligible, shown) : bulk().none}</strong></p>
      {plan.notEligible.map(({ reason, count }) => (
        <p key={reason}>{bulk().stays(count, number(count), bulk().reasons[reason] ?? reason)}</p>
      ))}
    </div>
  );
}

/** The dry run of the request, again when its values rest. */
function usePlan<T extends Target>(of: T, body: BulkRequest[T] | undefined) {
  const key = JSON.stringify(body);
  const [rested, setRested] = useState(key);
  useEffect(() => {
    const timer = setTimeout(() => setRested(key), 300);
    return () => clearTimeout(timer);
  }, [key]);
  return useResource(async () => {
    if (rested === undefined) return undefined;
    return (await post(of, { ...JSON.parse(rested), dryRun: true })) as BulkPlan;
  }, [rested]);
}

/** The field that the action needs; undefined while it is not filled in. */
function valuesOf(action: string, draft: Draft): { values?: Partial<SourceBulk>; problem?: string } {
  switch (action) {
    case "set_metadata":
      try {
        const metadata = parseMetadata(draft.metadata);
        return Object.keys(metadata).length ? { values: { metadata } } : {};
      } catch (error) {
        if (error instanceof WrongLine) return { problem: bulk().metadataWrong(error.line) };
        throw error;
      }
    case "add_to_collection":
    case "remove_from_collection":
      return draft.collectionId ? { values: { collectionId: draft.collectionId } } : {};
    case "set_chunking":
      return { values: { chunking: Object.keys(draft.chunking).length ? draft.chunking : null } };
    case "set_schedule":
      return { values: { schedule: draft.cron.trim() ? { cron: draft.cron.trim(), timezone: draft.timezone } : null } };
    default:
      return { values: {} };
  }
}

function Values({ action, draft, problem, error, onDraft }: { action: string; draft: Draft; problem: string | undefined; error: unknown; onDraft: (change: Partial<Draft>) => void }) {
  switch (action) {
    case "set_metadata":
      return <TextArea label={bulk().metadata} hint={bulk().metadataHint} isCode value={draft.metadata} error={problem ?? fieldError(error, "metadata")} onValue={(metadata) => onDraft({ metadata })} />;
    case "add_to_collection":
    case "remove_from_collection":
      return <CollectionField value={draft.collectionId} onValue={(collectionId) => onDraft({ collectionId })} />;
    case "set_chunking":
      return <ChunkingFields hasSites value={draft.chunking} error={error} onValue={(chunking) => onDraft({ chunking })} />;
    case "set_schedule":
      return (
        <>
          <TextField label={bulk().cron} hint={bulk().cronHint} placeholder="0 6 * * 1" dir="ltr" value={draft.cron} error={fieldError(error, "cron")} onValue={(cron) => onDraft({ cron })} />
          <TextField label={bulk().timezone} dir="ltr" value={draft.timezone} error={fieldError(error, "timezone")} onValue={(timezone) => onDraft({ timezone })} />
        </>
      );
    default:
      return null;
  }
}

export function CollectionField({ value, onValue }: { value: string; onValue: (id: string) => void }) {
  const found = useResource((signal) => api.get("/api/collections", { query: { limit: 200 }, signal }), []);
  const collections: Collection[] = found.data?.items ?? [];
  if (found.data && !collections.length) return <p>{bulk().noCollections}</p>;
  const options = [{ value: "", label: "–" }, ...collections.map(({ id, name }) => ({ value: id, label: name }))];
  return <SelectField label={bulk().collection} value={value} onValue={onValue} options={options} />;
}
