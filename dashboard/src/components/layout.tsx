/** The parts that screens are made of. */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { href, path, place, readQuery, setQuery, text } from "../app/router.ts";
import { number } from "../messages/format.ts";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";
import { shortId } from "./text.tsx";

interface ScreenProps {
  title: ComponentChildren;
  /** A link back to the list. */
  parent?: { title: string; path: string };
  /** Buttons at the end of the header. */
  actions?: ComponentChildren;
  /** A sentence below the title. */
  lead?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of every screen. Its heading gets the focus when the reader arrives. */
export function ScreenFrame({ title, parent, actions, lead, children }: ScreenProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // With the heading, not after it: a reader may already have gone on to `main`.
  useLayoutEffect(() => {
    // Of a screen that was loaded first; meanwhile its frame had the focus.
    if (document.activeElement?.id === "main") heading.current!.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <header class="screen-header">
        <div>
          {parent && <a class="parent" href={href(parent.path)}><Icon name="chevronStart" />{parent.title}</a>}
          <h1 ref={heading} tabIndex={-1}>{title}</h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export function Card({ title, actions, children }: { title?: string; actions?: ComponentChildren; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={title ? id : undefined}>
      {(title || actions) && (
        <header>
          {title && <h2 id={id}>{title}</h2>}
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** A number with its name; `href` leads to what it counts. */
export function Tile({ label, value, note, href: to, tone }: { label: string; value: ComponentChildren; note?: ComponentChildren; href?: string; tone?: "good" | "warning" | "bad" }) {
  const content = (
    <>
      <span class="tile-label">{label}</span>
      <span class="tile-value">{value}</span>
      {note && <span class="tile-note">{note}</span>}
    </>
  );
  const name = `tile ${tone ?? ""}`;
  return to ? <a class={name} href={to}>{content}</a> : <div class={name}>{content}</div>;
}

export interface Tab {
  key: string;
  title: string;
  /** Shown beside the title. */
  count?: number | undefined;
  render: () => ComponentChildren;
}

/** Tabs whose choice is the parameter `tab` of the address; other parameters of the tab before go. */
export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }) {
  const id = useId();
  const { tab: chosen } = readQuery({ tab: text });
  const active = tabs.find((tab) => tab.key === chosen) ?? tabs[0]!;
  const choose = (tab: Tab) => {
    const gone = [...place.peek().query.keys()].filter((name) => name !== "app");
    setQuery({ ...Object.fromEntries(gone.map((name) => [name, undefined])), tab: tab === tabs[0] ? undefined : tab.key }, { replace: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const isRtl = getComputedStyle(event.currentTarget as Element).direction === "rtl";
    const next = tabs[(tabs.indexOf(active) + (isRtl ? -step : step) + tabs.length) % tabs.length]!;
    choose(next);
    document.getElementById(`${id}-${next.key}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button key={tab.key} type="button" role="tab" id={`${id}-${tab.key}`} aria-selected={tab === active} aria-controls={`${id}-panel`}
            tabIndex={tab === active ? 0 : -1} onClick={() => choose(tab)}>
            {tab.title}
            {tab.count !== undefined && <span class="count">{number(tab.count)}</span>}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${active.key}`} key={`${path.value} ${active.key}`}>
        {active.render()}
      </div>
    </>
  );
}

/** Facts: a name and a value each; null values are left out. */
export function KeyValues({ items }: { items: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="key-values">
      {items.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function CodeBlock({ text, label }: { text: string; label?: string }) {
  return (
    <div class="code-block">
      <pre tabIndex={0} aria-label={label}><code>{text}</code></pre>
      <CopyButton text={text} />
    </div>
  );
}

/** An identifier, shortened, with a button to copy it. */
export function Id({ value }: { value: string }) {
  return <span class="id"><code title={value}>{shortId(value)}</code><CopyButton text={value} /></span>;
}
