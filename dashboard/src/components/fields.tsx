/** Form fields. Messages of the service about a field (`errors` of a problem) are shown at the field. */

import { ApiError } from "@rag-ingest/client";
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { errorText, fieldText, reasonText } from "../messages/errors.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { Detail, failureOf } from "./states.tsx";

interface FieldProps {
  label: string;
  /** How to fill it in. */
  hint?: string;
  /** What is wrong with it. */
  error?: string | undefined;
}

type InputProps = FieldProps & {
  value: string;
  onValue: (value: string) => void;
  type?: "text" | "url" | "number" | "email" | "date" | "datetime-local" | "password" | "search";
  class?: string;
  placeholder?: string;
  disabled?: boolean;
  required?: boolean;
  autofocus?: boolean;
  autocomplete?: "on" | "off";
  spellcheck?: boolean;
  maxLength?: number;
  min?: number;
  max?: number;
  step?: number;
  /** Of keys and addresses, which are never right-to-left. */
  dir?: "ltr" | "auto";
  /** The id of a `<datalist>`. */
  list?: string;
};

export function TextField({ label, hint, error, onValue, ...rest }: InputProps) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(ids) => <input dir="auto" autocomplete="off" {...(rest as object)} {...ids} onInput={(event) => onValue(event.currentTarget.value)} />}
    </Labelled>
  );
}

type AreaProps = FieldProps & { value: string; onValue: (value: string) => void; rows?: number; isCode?: boolean; disabled?: boolean };

export function TextArea({ label, hint, error, onValue, isCode, ...rest }: AreaProps) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(ids) => (
        <textarea dir="auto" class={isCode ? "code" : ""} spellcheck={!isCode} rows={4} {...rest} {...ids}
          onInput={(event) => onValue(event.currentTarget.value)} />
      )}
    </Labelled>
  );
}

type SelectProps<T extends string> = FieldProps & {
  value: T;
  onValue: (value: T) => void;
  options: readonly { value: T; label: string }[];
  disabled?: boolean;
};

export function SelectField<T extends string>({ label, hint, error, value, onValue, options, disabled }: SelectProps<T>) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(ids) => (
        <select {...ids} value={value} disabled={disabled} onChange={(event) => onValue(event.currentTarget.value as T)}>
          {options.map((option) => <option key={option.value} value={option.value}>{option.label}</option>)}
        </select>
      )}
    </Labelled>
  );
}

export function CheckField({ label, hint, checked, onValue, disabled }: { label: string; hint?: string; checked: boolean; onValue: (checked: boolean) => void; disabled?: boolean }) {
  const id = useId();
  return (
    <div class="field check">
      <label>
        <input type="checkbox" checked={checked} disabled={disabled} aria-describedby={hint ? id : undefined}
          onChange={(event) => onValue(event.currentTarget.checked)} />
        <span dir="auto">{label}</span>
      </label>
      {hint && <p class="hint" id={id}>{hint}</p>}
    </div>
  );
}

interface Ids {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean;
}

function Labelled({ label, hint, error, children }: FieldProps & { children: (ids: Ids) => ComponentChildren }) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": Boolean(error) })}
      {hint && <p class="hint" id={`${id}-hint`}>{hint}</p>}
      {error && <p class="field-error" id={`${id}-error`}><Icon name="warning" />{error}</p>}
    </div>
  );
}

/** What a problem says of a field: `fieldError(error, "name")` matches `body.name`, `query.name` … */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.errors.find((item) => item.field === field || item.field.endsWith(`.${field}`));
  if (!found) return undefined;
  // The address that may not be fetched, the filter that cannot be: the code of the whole says it.
  return found.message === error.detail && error.code !== "invalid_request" ? reasonText(error.code, found.message) : fieldText(found.code, found.message);
}

/** A failure in a form or dialog: short, with the code. `fields`: those whose messages are shown at them. */
export function Problem({ error, fields = [] }: { error: unknown; fields?: readonly string[] }) {
  const { code, detail } = failureOf(error);
  const { means, advice } = errorText(code);
  const rest = error instanceof ApiError
    ? error.errors.filter((item) => item.message !== detail && !fields.some((field) => item.field.endsWith(field)))
    : [];
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <div>
        <p><strong>{means}</strong> {advice}</p>
        {detail && <Detail text={detail} />}
        {rest.length > 0 && <ul>{rest.map((item) => <li key={item.field}><code>{item.field}</code> {fieldText(item.code, item.message)}</li>)}</ul>}
        <code>{code}</code>
      </div>
    </div>
  );
}

interface FormProps {
  submit: string;
  /** Runs at Enter and by the button; the form shows its failure. */
  onSubmit: () => Promise<unknown>;
  /** The fields; gets the last failure, for `fieldError`. */
  children: (error: unknown) => ComponentChildren;
  fields?: readonly string[];
  extra?: ComponentChildren;
}

/** A form that cannot be sent twice at once. */
export function Form({ submit, onSubmit, children, fields, extra }: FormProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      await onSubmit();
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <form onSubmit={send} noValidate>
      {children(error)}
      {error !== undefined && <Problem error={error} {...(fields && { fields })} />}
      <div class="actions">
        <Button kind="primary" type="submit" isBusy={isBusy}>{submit}</Button>
        {extra}
      </div>
    </form>
  );
}
