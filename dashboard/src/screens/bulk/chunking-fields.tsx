/** Chunk settings: an empty field is inherited. */

import type { Chunking } from "@rag-ingest/client";
import { fieldError, SelectField, TextField } from "../../components/fields.tsx";
import { bulk } from "./messages.ts";

export type ChunkingDraft = Omit<Chunking, never>;

interface Props {
  value: ChunkingDraft;
  onValue: (value: ChunkingDraft) => void;
  error?: unknown;
  /** What is in force where a field is empty. */
  inherited?: { size: number; overlap: number; by: string };
}

const ENDS = ["heading", "page", "row", "size"] as const;

export function ChunkingFields({ value, onValue, error, inherited }: Props) {
  const set = (change: ChunkingDraft) => {
    const next = { ...value, ...change };
    onValue(Object.fromEntries(Object.entries(next).filter(([, one]) => one !== null && one !== undefined)));
  };
  const number = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : null);
  const placeholder = (shown: number | undefined) => (shown === undefined ? bulk().inherited : `${shown} (${bulk().inherited})`);
  return (
    <div class="field-row">
      <TextField label={bulk().size} type="number" min={32} value={String(value.size ?? "")} placeholder={placeholder(inherited?.size)} error={fieldError(error, "size")} onValue={(text) => set({ size: number(text) })} />
      <TextField label={bulk().overlap} type="number" min={0} value={String(value.overlap ?? "")} placeholder={placeholder(inherited?.overlap)} error={fieldError(error, "overlap")} onValue={(text) => set({ overlap: number(text) })} />
      <SelectField label={bulk().by} value={value.by ?? ""} onValue={(by) => set({ by: by === "" ? null : by })}
        options={[
          { value: "", label: inherited ? `${bulk().ends[inherited.by]} (${bulk().inherited})` : bulk().inherited },
          ...ENDS.map((by) => ({ value: by, label: bulk().ends[by]! })),
        ]} />
    </div>
  );
}
