/** How to rank. */

import { CheckField, fieldError, SelectField, TextField } from "../../components/fields.tsx";
import { search } from "./messages.ts";
import { MODES, type How, type Mode } from "./settings.ts";

interface HowFieldsProps {
  how: How;
  /** While it is typed. */
  onChange: (how: How) => void;
  /** What applies at once. */
  onChoose: (how: How) => void;
  hasMode?: boolean;
  error: unknown;
}

export function HowFields({ how, onChange, onChoose, hasMode, error }: HowFieldsProps) {
  const mode = how.mode ?? "hybrid";
  const numberField = (name: "vector" | "keyword" | "perDocument" | "diversity" | "minCosine" | "minBm25", label: string, at: string, hint?: string) => (
    <TextField label={label} type="number" value={how[name] === undefined ? "" : String(how[name])} error={fieldError(error, at)} step={name === "perDocument" ? 1 : 0.05}
      {...(hint && { hint })} onValue={(value) => onChange({ ...how, [name]: value === "" || Number.isNaN(Number(value)) ? undefined : Number(value) })} />
  );
  return (
    <div class="fields">
      {hasMode && (
        <SelectField label={search().mode} value={mode} options={MODES.map((value) => ({ value, label: search().modes[value]! }))}
          onValue={(chosen: Mode) => onChoose({ ...how, mode: chosen === "hybrid" ? undefined : chosen })} />
      )}
      {mode === "hybrid" && numberField("vector", search().vectorWeight, "weights.vector", search().weightHint)}
      {mode === "hybrid" && numberField("keyword", search().keywordWeight, "weights.keyword", search().weightHint)}
      {numberField("perDocument", search().perDocument, "perDocument", search().perDocumentHint)}
      {numberField("diversity", search().diversity, "diversity", search().diversityHint)}
      {mode !== "keyword" && numberField("minCosine", search().minCosine, "minScore.cosine", search().lowestHint)}
      {mode !== "vector" && numberField("minBm25", search().minBm25, "minScore.bm25", search().lowestHint)}
      <div class="checks">
        <CheckField label={search().rerank} checked={!how.rerank} onValue={(on) => onChoose({ ...how, rerank: on ? undefined : "off" })} />
        <CheckField label={search().collapse} checked={!how.collapse} onValue={(on) => onChoose({ ...how, collapse: on ? undefined : "off" })} />
      </div>
    </div>
  );
}
