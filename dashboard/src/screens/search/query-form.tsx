/** The form: nothing is asked while it is filled in, and everything it says goes into the address. */

import { ApiError } from "@rag-ingest/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { setQuery } from "../../app/router.ts";
import { isSearchWanted } from "../../app/shortcuts.tsx";
import { Button } from "../../components/button.tsx";
import { fieldError, SelectField } from "../../components/fields.tsx";
import { FilterFields } from "./filter-fields.tsx";
import { HowFields } from "./how-fields.tsx";
import { search } from "./messages.ts";
import { asQuery, howOf, MODES, type How, type Mode, type Values, type What } from "./settings.ts";

interface Draft {
  what: What;
  first: How;
  second: How;
}

function draftOf(values: Values): Draft {
  return { what: values as What, first: howOf(values, "first"), second: howOf(values, "second") };
}

export function QueryForm({ values, errors, isComparing }: { values: Values; errors: readonly unknown[]; isComparing: boolean }) {
  const [draft, setDraft] = useState(() => draftOf(values));
  const inAddress = JSON.stringify(values);
  useEffect(() => setDraft(draftOf(values)), [inAddress]);
  const { what, first, second } = draft;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!isSearchWanted.peek()) return;
    field.current!.focus();
    setTimeout(() => (isSearchWanted.value = false)); // the shell looks at it after us
  }, []);
  const change = (more: Partial<What>) => setDraft({ ...draft, what: { ...what, ...more } });
  const apply = (next: Draft) => {
    const { q, limit, where, collections, sources } = next.what;
    setQuery({
      q: q?.trim(), limit: limit === 10 ? undefined : limit, where, collections, sources,
      ...asQuery(next.first, "first"), ...(isComparing && asQuery(next.second, "second")),
    });
  };
  /** What is chosen, not typed, applies at once. */
  const choose = (next: Draft) => {
    setDraft(next);
    if (values.q) apply(next);
  };
  const error = errors.find((one) => one !== undefined);
  // Of a link, any number.
  const limits = [...new Set([...LIMITS, String(what.limit ?? 10)])].sort((a, b) => Number(a) - Number(b));
  const isFiltered = Boolean(values.where || values.collections || values.sources);
  return (
    <form class="search-form" role="search" noValidate onSubmit={(event) => {
      event.preventDefault();
      apply(draft);
    }}>
      <div class="search-line">
        <div class="field stretch">
          <label for="search-query">{search().query}</label>
          <input ref={field} id="search-query" type="search" data-search dir="auto" autocomplete="off" maxLength={8000} placeholder={search().placeholder}
            value={what.q ?? ""} aria-invalid={Boolean(fieldError(error, "query"))} onInput={(event) => change({ q: event.currentTarget.value })} />
          {fieldError(error, "query") && <p class="field-error">{fieldError(error, "query")}</p>}
        </div>
        <SelectField label={search().mode} value={first.mode ?? "hybrid"} options={MODES.map((value) => ({ value, label: search().modes[value]! }))}
          onValue={(mode: Mode) => choose({ ...draft, first: { ...first, mode: mode === "hybrid" ? undefined : mode } })} />
        <SelectField label={search().limit} value={String(what.limit ?? 10)} options={limits.map((value) => ({ value, label: value }))} error={fieldError(error, "limit")}
          onValue={(limit) => choose({ ...draft, what: { ...what, limit: Number(limit) } })} />
        <Button kind="primary" type="submit" icon="search">{search().submit}</Button>
      </div>
      <details open={isFiltered || hasError(errors[0], "body.filter")}>
        <summary>{isFiltered ? search().filterOn : search().filter}</summary>
        <FilterFields what={what} onChange={change} onChoose={(more) => choose({ ...draft, what: { ...what, ...more } })} error={error} />
      </details>
      <details open={isComparing || HOW_FIELDS.some((name) => hasError(errors[0], `body.${name}`))}>
        <summary>{isComparing ? search().rankingOfA : search().ranking}</summary>
        <HowFields how={first} onChange={(how) => setDraft({ ...draft, first: how })} onChoose={(how) => choose({ ...draft, first: how })} error={errors[0]} />
      </details>
      {isComparing && (
        <details open>
          <summary>{search().rankingOfB}</summary>
          <HowFields how={second} hasMode onChange={(how) => setDraft({ ...draft, second: how })} onChoose={(how) => choose({ ...draft, second: how })} error={errors[1]} />
        </details>
      )}
    </form>
  );
}

const HOW_FIELDS = ["weights", "perDocument", "diversity", "minScore"];

function hasError(error: unknown, field: string): boolean {
  return error instanceof ApiError && error.errors.some((item) => item.field === field || item.field.startsWith(`${field}.`));
}

const LIMITS = ["5", "10", "20", "50", "100"] as const;

