/** Above every screen: the application, whether updates are live, and what belongs to the reader. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../components/button.tsx";
import type { IconName } from "../components/icon.tsx";
import { attempt } from "../components/toasts.tsx";
import { Name } from "../components/text.tsx";
import { useResource } from "../live/resource.ts";
import { LANGUAGES, language, setLanguage, type Language } from "../messages/language.ts";
import { shell } from "../messages/shell.ts";
import { isDrawerOpen } from "./navigation.tsx";
import { setQuery } from "./router.ts";
import { api, liveState, me, signOut } from "./session.ts";
import { isHelpOpen } from "./shortcuts.tsx";
import { setTheme, theme, THEMES, type Theme } from "./theme.ts";

export function Header() {
  return (
    <header class="top">
      <span class="drawer-button"><IconButton icon="menu" label={shell().openNavigation} aria-expanded={isDrawerOpen.value} onClick={() => (isDrawerOpen.value = true)} /></span>
      {me().isOperator ? <ApplicationSwitcher /> : <span class="application"><Name>{me().application.name}</Name></span>}
      <span class="stretch" />
      <LiveIndicator />
      <IconButton icon="keyboard" label={shell().shortcutsHint} onClick={() => (isHelpOpen.value = true)} />
      <AccountMenu />
    </header>
  );
}

/** The operator sees one application at a time: `?app=` in the address. */
function ApplicationSwitcher() {
  const { application } = me();
  const list = useResource((signal) => api.get("/api/applications", { query: { limit: 200 }, signal }), []);
  const others = (list.data?.items ?? []).filter(({ id }) => id !== application.id);
  return (
    <label class="application">
      <span class="visually-hidden">{shell().application}</span>
      <select value={application.id} onFocus={list.refresh} onChange={(event) => setQuery({ app: event.currentTarget.value, cursor: undefined })}>
        <option value={application.id}>{application.name}</option>
        {others.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
      </select>
    </label>
  );
}

function LiveIndicator() {
  const state = liveState.value;
  return <span class={`live ${state}`} title={shell().liveHint[state]}>{shell().live[state]}</span>;
}

const THEME_ICONS: Record<Theme, IconName> = { auto: "auto", light: "sun", dark: "moon" };

function AccountMenu() {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !menu.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("keydown", close);
    addEventListener("pointerdown", close);
    return () => {
      removeEventListener("keydown", close);
      removeEventListener("pointerdown", close);
    };
  }, [isOpen]);
  const { isOperator, role, keyName } = me();
  return (
    <div class="menu" ref={menu}>
      <IconButton icon="account" label={shell().account} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      {isOpen && (
        <div class="menu-panel">
          <p class="who">
            {keyName && <Name>{keyName}</Name>}
            <span>{shell().signedInAs(shell().roles[isOperator ? "operator" : role])}</span>
          </p>
          <div class="field">
            <label for="language">{shell().language}</label>
            <select id="language" value={language.value} onChange={(event) => setLanguage(event.currentTarget.value as Language)}>
              {Object.entries(LANGUAGES).map(([key, name]) => <option key={key} value={key} lang={key}>{name}</option>)}
            </select>
          </div>
          <fieldset class="segments">
            <legend>{shell().theme}</legend>
            {THEMES.map((name) => (
              <IconButton key={name} icon={THEME_ICONS[name]} label={shell().themes[name]} aria-pressed={theme.value === name} onClick={() => setTheme(name)} />
            ))}
          </fieldset>
          <Button icon="signOut" onClick={() => attempt(signOut)}>{shell().signOut}</Button>
        </div>
      )}
    </div>
  );
}
