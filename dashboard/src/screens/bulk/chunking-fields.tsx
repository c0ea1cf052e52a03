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
  inherited?: { size: number; overlap: number; by: string; leaveOutFurniture: boolean };
  /** Whether sites may be among the sources. */
  hasSites?: boolean;
}

const ENDS = ["heading", "page", "row", "size"] as const;

export function ChunkingFields({ value, onValue, error, inherited, hasSites }: Props) {
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
      {hasSites && <FurnitureField value={value.leaveOutFurniture} inherited={inherited?.leaveOutFurniture} onValue={(leaveOutFurniture) => set({ leaveOutFurniture })} />}
    </div>
  );
}

interface FurnitureProps {
  /** Null: inherited. */
  value: boolean | null | undefined;
  onValue: (value: boolean | null) => void;
  inherited?: boolean | undefined;
  /** Whose value is inherited, if not the application's. */
  from?: string | undefined;
}

/** Whether blocks that repeat on the pages of a site are left out. */
export function FurnitureField({ value, onValue, inherited, from = bulk().inherited }: FurnitureProps) {
  const { leave, keep } = bulk().furnitures;
  return (
    <SelectField label={bulk().furniture} hint={bulk().furnitureHint} value={value == null ? "" : value ? "leave" : "keep"}
      onValue={(chosen) => onValue(chosen === "" ? null : chosen === "leave")}
      options={[
        { value: "", label: inherited === undefined ? from : `${inherited ? leave : keep} (${from})` },
        { value: "leave", label: leave }, { value: "keep", label: keep },
      ]} />
  );
}
