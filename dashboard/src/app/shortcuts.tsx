/** Keyboard shortcuts: single keys, but never while somebody types or a dialog is open. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { moveFocus } from "../components/row-focus.ts";
import { Dialog } from "../components/dialog.tsx";
import { shell } from "../messages/shell.ts";
import { visibleScreens } from "./navigation.tsx";
import { navigate } from "./router.ts";

export const isHelpOpen = signal(false);

/** Whether the way to the search was its shortcut: then its field gets the focus, not its heading. */
export const isSearchWanted = signal(false);

export function useShortcuts(): void {
  useEffect(() => {
    /** Whether `g` was the last key; no time limit, for those who type slowly, or whose machine does. */
    let isBegun = false;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      if (isBegun) {
        isBegun = false;
        const screen = visibleScreens().find(({ navigation }) => navigation!.shortcut === event.key);
        if (screen) {
          event.preventDefault();
          navigate(screen.path);
          return;
        }
      }
      if (event.key === "g") isBegun = true;
      else if (ACTIONS[event.key]?.()) event.preventDefault();
    };
    const onPointer = () => (isBegun = false);
    addEventListener("keydown", onKey);
    addEventListener("pointerdown", onPointer);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("pointerdown", onPointer);
    };
  }, []);
}

/** Each returns whether it did something. */
const ACTIONS: Record<string, () => boolean> = {
  "/": () => {
    const box = document.querySelector<HTMLInputElement>("[data-search]");
    if (box === null) {
      isSearchWanted.value = true;
      navigate("/search");
    }
    box?.focus();
    box?.select();
    return true;
  },
  j: () => move(1),
  k: () => move(-1),
  x: () => {
    const box = document.activeElement?.closest("tr")?.querySelector<HTMLInputElement>("td.select input");
    box?.click();
    return box != null;
  },
  "?": () => (isHelpOpen.value = true),
};

function move(step: number): boolean {
  const table = document.querySelector<HTMLTableElement>("table[data-rows]");
  if (table) moveFocus(table, step);
  return table !== null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

export function ShortcutHelp() {
  if (!isHelpOpen.value) return null;
  const { keys } = shell();
  const rows: [string, string][] = [
    ["/", keys.search],
    ["j", keys.down],
    ["k", keys.up],
    ["Enter", keys.open],
    ["x", keys.select],
    ...visibleScreens().flatMap((screen): [string, string][] =>
      screen.navigation!.shortcut ? [[`g ${screen.navigation!.shortcut}`, keys.go(screen.title())]] : []),
    ["?", keys.help],
    ["Esc", keys.close],
  ];
  return (
    <Dialog title={shell().shortcuts} onClose={() => (isHelpOpen.value = false)}>
      <dl class="shortcuts">
        {rows.map(([key, meaning]) => (
          <div key={key}>
            <dt>{key.split(" ").map((part) => <kbd key={part}>{part}</kbd>)}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
