/** Lists: real tables, with keyboard, selection and sorting; wide ones scroll inside their frame. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { pageTurn } from "../live/list.ts";
import { moveFocus } from "./row-focus.ts";
import { Icon } from "./icon.tsx";
import { components } from "./messages.ts";

export interface Column<T> {
  key: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  /** Numbers are aligned at their end. */
  isNumber?: boolean;
  /** Takes the room that is left, and shortens its text. */
  isMain?: boolean;
  /** Left out where there is little room. */
  isOptional?: boolean;
  /** The value of `sort.by`; without it, the column cannot be sorted by. */
  sort?: string;
}

export interface Sort {
  by: string;
  isDescending: boolean;
}

export interface Selection {
  selected: ReadonlySet<string>;
  onChange: (selected: ReadonlySet<string>) => void;
}

interface TableProps<T> {
  /** What the table lists, for screen readers. */
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** The address that a row leads to: Enter and a click open it; its main cell is the link. */
  hrefOf?: (row: T) => string;
  selection?: Selection | undefined;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  /** Being read again, while the old rows are shown. */
  isBusy?: boolean;
}

export function DataTable<T>({ caption, columns, rows, keyOf, hrefOf, selection, sort, onSort, isBusy }: TableProps<T>) {
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    fit(frame.current!);
    const resized = () => fit(frame.current!);
    addEventListener("resize", resized);
    return () => removeEventListener("resize", resized);
  });
  useEffect(() => {
    if (!pageTurn.isDue) return;
    pageTurn.isDue = false;
    scrollTo(0, 0);
    frame.current!.focus({ preventScroll: true });
  });
  return (
    <div class="table-frame" ref={frame}>
      <table aria-busy={isBusy} data-rows onKeyDown={moveByKey}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {selection && <th scope="col" class="select"><SelectAll selection={selection} keys={rows.map(keyOf)} /></th>}
            {columns.map((column) => <Head key={column.key} column={column} sort={sort} onSort={onSort} />)}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            const href = hrefOf?.(row);
            return (
              <tr key={key} aria-selected={selection?.selected.has(key)} class={href ? "link" : ""}
                onClick={href ? (event) => follow(event, href) : undefined}>
                {selection && <td class="select"><Select selection={selection} id={key} /></td>}
                {columns.map((column) => (
                  <td key={column.key} class={classOf(column)}>
                    {column.isMain && href ? <a class="row-link" href={href}>{column.cell(row)}</a> : column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A table that is wider than its frame scrolls in it, and is reached by keyboard; its head cannot stick to the page then. */
function fit(frame: HTMLDivElement): void {
  const isWide = frame.scrollWidth > frame.clientWidth;
  frame.classList.toggle("is-wide", isWide);
  frame.tabIndex = isWide ? 0 : -1;
}

function classOf(column: Column<never>): string {
  const names = [column.isNumber && "number", column.isMain && "main", column.isOptional && "optional"];
  return names.filter(Boolean).join(" ");
}

function Head<T>({ column, sort, onSort }: { column: Column<T>; sort: Sort | undefined; onSort: ((sort: Sort) => void) | undefined }) {
  const by = column.sort;
  if (by === undefined || !onSort) return <th scope="col" class={classOf(column)}>{column.title}</th>;
  const isActive = sort?.by === by;
  const order = isActive ? (sort.isDescending ? "descending" : "ascending") : undefined;
  return (
    <th scope="col" class={classOf(column)} aria-sort={order}>
      <button type="button" class="sort" onClick={() => onSort({ by, isDescending: isActive ? !sort.isDescending : true })}>
        {column.title}
        <Icon name="chevronDown" />
      </button>
    </th>
  );
}

function Select({ selection, id }: { selection: Selection; id: string }) {
  const { selected, onChange } = selection;
  return (
    <input type="checkbox" aria-label={components().selectRow} checked={selected.has(id)}
      onClick={(event) => event.stopPropagation()}
      onChange={(event) => {
        const next = new Set(selected);
        if (event.currentTarget.checked) next.add(id);
        else next.delete(id);
        onChange(next);
      }} />
  );
}

function SelectAll({ selection, keys }: { selection: Selection; keys: readonly string[] }) {
  const box = useRef<HTMLInputElement>(null);
  const count = keys.filter((key) => selection.selected.has(key)).length;
  useEffect(() => {
    box.current!.indeterminate = count > 0 && count < keys.length;
  });
  return (
    <input ref={box} type="checkbox" aria-label={components().selectPage} checked={count > 0 && count === keys.length}
      onChange={(event) => {
        const next = new Set(selection.selected);
        for (const key of keys) {
          if (event.currentTarget.checked) next.add(key);
          else next.delete(key);
        }
        selection.onChange(next);
      }} />
  );
}

/** A click anywhere in a row opens it, unless it meant a control, or selected text. */
function follow(event: MouseEvent, href: string): void {
  const target = event.target as Element;
  if (target.closest("a, button, input, select, label, summary") || String(getSelection())) return;
  if (event.ctrlKey || event.metaKey) open(href);
  else location.hash = href;
}

/** Up and down, Home and End move between the links of rows; `j` and `k` are in shortcuts.ts. */
function moveByKey(event: KeyboardEvent & { currentTarget: HTMLTableElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY }[event.key];
  const focused = document.activeElement;
  if (step === undefined || !focused?.classList.contains("row-link")) return;
  event.preventDefault();
  moveFocus(event.currentTarget, step);
}
