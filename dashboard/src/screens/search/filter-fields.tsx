/** The filter: conditions in rows, or as JSON where rows cannot say it; collections; sources. */

import { ApiError } from "@rag-ingest/client";
import { useId, useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { Button, IconButton } from "../../components/button.tsx";
import { TextArea, TextField } from "../../components/fields.tsx";
import { Icon } from "../../components/icon.tsx";
import { Name } from "../../components/text.tsx";
import { useResource } from "../../live/resource.ts";
import { FIELDS, isAbout, OPERATORS, toConditions, toWhere, type Condition, type Operator } from "./conditions.ts";
import { search } from "./messages.ts";
import { idsOf, type What } from "./settings.ts";

interface FilterFieldsProps {
  what: What;
  onChange: (what: Partial<What>) => void;
  /** What applies at once. */
  onChoose: (what: Partial<What>) => void;
  error: unknown;
}

const NEW: Condition = { field: "", operator: "eq", value: "" };

export function FilterFields({ what, onChange, onChoose, error }: FilterFieldsProps) {
  return (
    <div class="filter-fields">
      <Conditions where={what.where} onChange={(where) => onChange({ where })} error={error} />
      <Collections chosen={idsOf(what.collections)} onChoose={(ids) => onChoose({ collections: ids.join(",") || undefined })} />
      <TextField label={search().sources} value={what.sources ?? ""} dir="ltr" error={fieldErrorBelow(error, "body.filter.knowledgeSourceIds")}
        onValue={(sources) => onChange({ sources: sources || undefined })} />
    </div>
  );
}

/** An item of a list has its place in the field: `…knowledgeSourceIds.0`. */
function fieldErrorBelow(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.errors.find(({ field }) => field === path || field.startsWith(`${path}.`))?.message;
}

function Conditions({ where, onChange, error }: { where: string | undefined; onChange: (where: string | undefined) => void; error: unknown }) {
  const fromWhere = toConditions(where);
  const [rows, setRows] = useState<readonly Condition[]>(fromWhere?.length ? fromWhere : [NEW]);
  const [isJson, setJson] = useState(fromWhere === null);
  // The address changed, and these are not the rows that were written into it.
  if (!isJson && fromWhere === null) setJson(true);
  else if (!isJson && toWhere(rows) !== toWhere(fromWhere!)) setRows(fromWhere?.length ? fromWhere : [NEW]);
  const change = (next: readonly Condition[]) => {
    setRows(next);
    onChange(toWhere(next));
  };
  if (isJson) {
    return (
      <div class="conditions">
        <TextArea label={search().where} hint={search().whereHint} isCode value={where ?? ""} onValue={(text) => onChange(text || undefined)}
          error={fieldErrorBelow(error, "body.filter.where")} />
        {fromWhere !== null && <Button kind="quiet" onClick={() => {
          setRows(fromWhere.length ? fromWhere : [NEW]);
          setJson(false);
        }}>{search().asRows}</Button>}
      </div>
    );
  }
  return (
    <fieldset class="conditions">
      <legend>{search().conditions}</legend>
      <datalist id="search-fields">{FIELDS.map((name) => <option key={name} value={name} />)}</datalist>
      {rows.map((row, at) => (
        <ConditionRow key={at} row={row} number={at + 1} error={errorOf(row, error)} onChange={(changed) => change(rows.with(at, changed))}
          onRemove={() => change(rows.length > 1 ? rows.toSpliced(at, 1) : [NEW])} />
      ))}
      {rows.every((row) => errorOf(row, error) === undefined) && fieldErrorBelow(error, "body.filter.where") && (
        <p class="field-error"><Icon name="warning" />{fieldErrorBelow(error, "body.filter.where")}</p>
      )}
      <div class="actions">
        <Button kind="quiet" icon="plus" onClick={() => setRows([...rows, NEW])}>{search().addCondition}</Button>
        <Button kind="quiet" onClick={() => setJson(true)}>{search().asJson}</Button>
      </div>
    </fieldset>
  );
}

function errorOf(row: Condition, error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.errors.find(({ field }) => isAbout(row, field))?.message;
}

interface RowProps {
  row: Condition;
  number: number;
  error: string | undefined;
  onChange: (row: Condition) => void;
  onRemove: () => void;
}

function ConditionRow({ row, number, error, onChange, onRemove }: RowProps) {
  const id = useId();
  const described = error ? id : undefined;
  return (
    <div class="condition">
      <input aria-label={search().field} list="search-fields" placeholder={search().field} value={row.field} autocomplete="off" aria-invalid={Boolean(error)} aria-describedby={described}
        onInput={(event) => onChange({ ...row, field: event.currentTarget.value })} />
      <select aria-label={search().operator} value={row.operator} onChange={(event) => onChange({ ...row, operator: event.currentTarget.value as Operator })}>
        {OPERATORS.map((name) => <option key={name} value={name}>{search().operators[name]}</option>)}
      </select>
      <input aria-label={search().value} placeholder={search().value} value={row.value} dir="auto" autocomplete="off" aria-invalid={Boolean(error)} aria-describedby={described}
        onInput={(event) => onChange({ ...row, value: event.currentTarget.value })} />
      <IconButton icon="cross" label={search().removeCondition(number)} onClick={onRemove} />
      {error && <p class="field-error" id={id}><Icon name="warning" />{error}</p>}
    </div>
  );
}

function Collections({ chosen, onChoose }: { chosen: readonly string[]; onChoose: (ids: string[]) => void }) {
  const { data } = useResource((signal) => api.get("/api/collections", { query: { limit: 100 }, signal }), []);
  if (!data?.items.length) return null;
  return (
    <fieldset class="collections">
      <legend>{search().collections}</legend>
      {data.items.map(({ id, name }) => (
        <label key={id}>
          <input type="checkbox" checked={chosen.includes(id)} onChange={(event) => onChoose(event.currentTarget.checked ? [...chosen, id] : chosen.filter((one) => one !== id))} />
          <Name>{name}</Name>
        </label>
      ))}
    </fieldset>
  );
}
