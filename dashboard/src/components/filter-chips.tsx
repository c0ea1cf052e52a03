/** The filters of a list: what is chosen is seen as chips, and is in the address. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { setQuery } from "../app/router.ts";
import { Icon } from "./icon.tsx";
import { components } from "./messages.ts";

interface Common {
  /** The parameter of the address. */
  name: string;
  label: string;
}

/** One of some values. */
export interface ChoiceFilter extends Common {
  kind: "choice";
  options: readonly { value: string; label: string }[];
}

/** Any text; `placeholder` shows an example. */
export interface TextFilter extends Common {
  kind: "text";
  placeholder?: string;
  /** Values that are known, each with what it means. */
  suggestions?: readonly (readonly [value: string, meaning: string])[];
  /** The main one: always open, and reached by `/`. */
  isSearch?: boolean;
}

export type Filter = ChoiceFilter | TextFilter;

interface FiltersProps {
  filters: readonly Filter[];
  /** The values in the address, as `readQuery` has them. */
  values: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** A change goes back to the first page. */
function change(name: string, value: string | undefined): void {
  setQuery({ [name]: value, cursor: undefined });
}

export function FilterChips({ filters, values }: FiltersProps) {
  const isActive = filters.some(({ name }) => values[name] !== undefined);
  const clear = () => setQuery({ ...Object.fromEntries(filters.map(({ name }) => [name, undefined])), cursor: undefined });
  return (
    <div class="filters" role="search" aria-label={components().filters}>
      {filters.map((filter) =>
        filter.kind === "text" && filter.isSearch
          ? <SearchBox key={filter.name} filter={filter} value={values[filter.name]} />
          : <Chip key={filter.name} filter={filter} value={values[filter.name]} />)}
      {isActive && <button type="button" class="button quiet" onClick={clear}>{components().clearFilters}</button>}
    </div>
  );
}

type Value = string | number | boolean | undefined;

/** Applied when typing rests. */
function SearchBox({ filter, value }: { filter: TextFilter; value: Value }) {
  const [draft, setDraft] = useState(String(value ?? ""));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setDraft(String(value ?? "")), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (text: string) => {
    clearTimeout(timer.current);
    change(filter.name, text.trim() || undefined);
  };
  return (
    <div class="search-box">
      <Icon name="search" />
      <input type="search" data-search dir="auto" aria-label={filter.label} placeholder={filter.placeholder ?? filter.label} value={draft}
        onInput={(event) => {
          const text = event.currentTarget.value;
          setDraft(text);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => apply(text), 300);
        }}
        onKeyDown={(event) => event.key === "Enter" && apply(event.currentTarget.value)} />
    </div>
  );
}

function Chip({ filter, value }: { filter: Filter; value: Value }) {
  const isOn = value !== undefined;
  return (
    <span class={isOn ? "chip on" : "chip"}>
      {filter.kind === "choice" ? <Choice filter={filter} value={value} /> : <TextValue filter={filter} value={value} />}
      {isOn && (
        <button type="button" class="chip-remove" aria-label={components().removeFilter(filter.label)} onClick={() => change(filter.name, undefined)}>
          <Icon name="cross" />
        </button>
      )}
    </span>
  );
}

function Choice({ filter, value }: { filter: ChoiceFilter; value: Value }) {
  const id = useId();
  return (
    <>
      <label for={id}>{filter.label}</label>
      <select id={id} value={String(value ?? "")} onChange={(event) => change(filter.name, event.currentTarget.value || undefined)}>
        <option value="">{components().any}</option>
        {filter.options.map((option) => <option key={option.value} value={option.value}>{option.label}</option>)}
      </select>
    </>
  );
}

function TextValue({ filter, value }: { filter: TextFilter; value: Value }) {
  const id = useId();
  return (
    <>
      <label for={id}>{filter.label}</label>
      {filter.suggestions && <datalist id={`${id}-known`}>{filter.suggestions.map(([known, meaning]) => <option key={known} value={known}>{meaning}</option>)}</datalist>}
      <input id={id} dir="auto" list={filter.suggestions && `${id}-known`} size={Math.max(8, String(value ?? "").length)} defaultValue={String(value ?? "")} key={String(value)} placeholder={filter.placeholder ?? components().any}
        onChange={(event) => change(filter.name, event.currentTarget.value.trim() || undefined)} />
    </>
  );
}
