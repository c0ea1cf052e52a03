/** The screens that are registered, in groups. On narrow pages it is a drawer. */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { IconButton } from "../components/button.tsx";
import { Icon, Mark } from "../components/icon.tsx";
import { components } from "../components/messages.ts";
import { shell } from "../messages/shell.ts";
import { href, path } from "./router.ts";
import { GROUPS, type Screen } from "./screen.ts";
import { SCREENS } from "./screens.ts";
import { may } from "./session.ts";

export const isDrawerOpen = signal(false);

/** The screens that the caller may see in the navigation, in order. */
export function visibleScreens(): Screen[] {
  return SCREENS.filter(({ navigation }) => navigation && (!navigation.role || may(navigation.role)))
    .sort((a, b) => a.navigation!.order - b.navigation!.order);
}

export function Navigation({ active }: { active: Screen | undefined }) {
  const screens = visibleScreens();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    isDrawerOpen.value = false;
  }, [path.value]);
  useEffect(() => {
    if (!isDrawerOpen.value) return;
    const before = document.activeElement;
    const links = nav.current!;
    (links.querySelector<HTMLElement>("[aria-current]") ?? links.querySelector<HTMLElement>("li a"))?.focus();
    return () => {
      // Unless the reader went elsewhere, the focus is in the hidden drawer, or already nowhere.
      const now = document.activeElement;
      if (before instanceof HTMLElement && (now === document.body || nav.current?.contains(now))) before.focus();
    };
  }, [isDrawerOpen.value]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && (isDrawerOpen.value = false);
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      {isDrawerOpen.value && <div class="scrim" onClick={() => (isDrawerOpen.value = false)} />}
      <nav ref={nav} class={isDrawerOpen.value ? "sidebar open" : "sidebar"} aria-label={shell().navigation}>
        <div class="brand">
          <a href={href("/")}><Mark />{shell().product}</a>
          <IconButton icon="cross" label={components().close} onClick={() => (isDrawerOpen.value = false)} />
        </div>
        {GROUPS.map((group) => {
          const members = screens.filter(({ navigation }) => navigation!.group === group);
          const title = shell().groups[group];
          return members.length > 0 && (
            <section key={group}>
              {title && <h2>{title}</h2>}
              <ul>
                {members.map((screen) => (
                  <li key={screen.path}>
                    <a href={href(screen.path)} aria-current={isWithin(screen, active) ? "page" : undefined}>
                      <Icon name={screen.navigation!.icon} />
                      {screen.title()}
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </nav>
    </>
  );
}

/** `/sources/:id` belongs to `/sources`. */
function isWithin(screen: Screen, active: Screen | undefined): boolean {
  return active !== undefined && (active === screen || active.path.startsWith(`${screen.path}/`));
}
