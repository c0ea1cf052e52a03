/** Navigation, header, banner, and the screen of the current address. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button, LinkButton } from "../components/button.tsx";
import { ScreenFrame } from "../components/layout.tsx";
import { EmptyState } from "../components/states.tsx";
import { Toasts } from "../components/toasts.tsx";
import { announce } from "../live/announcer.ts";
import { shell } from "../messages/shell.ts";
import { isUp, probeNow } from "./connection.ts";
import { Boundary } from "./boundary.tsx";
import { Header } from "./header.tsx";
import { Navigation, visibleScreens } from "./navigation.tsx";
import { arrived, href, match, path } from "./router.ts";
import type { Screen } from "./screen.ts";
import { SCREENS } from "./screens.ts";
import { me } from "./session.ts";
import { isSearchWanted, ShortcutHelp, useShortcuts } from "./shortcuts.tsx";

/** The screen of a path, and its parameters. */
export function screenOf(path: string): { screen: Screen; params: Record<string, string> } | undefined {
  if (path === "/") return { screen: visibleScreens()[0]!, params: {} };
  for (const screen of SCREENS) {
    const params = match(screen.path, path);
    if (params) return { screen, params };
  }
  return undefined;
}

export function Shell() {
  const found = screenOf(path.value);
  const main = useRef<HTMLElement>(null);
  useShortcuts();
  useArrival(main, found?.screen);
  const Component = found?.screen.component;
  const application = me().application.id;
  return (
    <div class="shell">
      <a class="skip-link" href="#main" onClick={(event) => { event.preventDefault(); main.current!.focus(); }}>{shell().skip}</a>
      <Navigation active={found?.screen} />
      <div class="page">
        <Header />
        {!isUp.value && <DownBanner />}
        <main id="main" ref={main} tabIndex={-1}>
          {Component && found
            ? <Boundary key={`${path.value} ${application}`}><Component params={found.params} /></Boundary>
            : <NotFound />}
        </main>
      </div>
      <Toasts />
      <ShortcutHelp />
    </div>
  );
}

/** At another screen: the title of the document, the focus on its heading, and a word for screen readers. */
function useArrival(main: { current: HTMLElement | null }, screen: Screen | undefined): void {
  const isFirst = useRef(true);
  const title = screen?.title() ?? shell().notFound;
  useEffect(() => {
    document.title = `${title} · ${shell().product}`;
  }, [title]);
  // Before the next event, such as another click.
  useLayoutEffect(() => arrived(path.value), [path.value]);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    scrollTo(0, 0);
    // A field that is not loaded yet takes the focus when it is.
    const field = isSearchWanted.peek() && path.value === "/search" ? main.current?.querySelector<HTMLElement>("[data-search]") : undefined;
    if (!field && path.value !== "/search") isSearchWanted.value = false;
    (field ?? main.current?.querySelector<HTMLElement>("h1") ?? main.current)?.focus({ preventScroll: true });
    announce(shell().arrived(title));
  }, [path.value]);
}

function DownBanner() {
  return (
    <div class="banner" role="alert">
      <span class="spinner" aria-hidden="true" />
      <p>{shell().down}</p>
      <Button onClick={probeNow}>{shell().tryNow}</Button>
    </div>
  );
}

function NotFound() {
  return (
    <ScreenFrame title={shell().notFound}>
      <EmptyState title={shell().notFoundText}>
        <LinkButton href={href("/")}>{shell().toStart}</LinkButton>
      </EmptyState>
    </ScreenFrame>
  );
}
