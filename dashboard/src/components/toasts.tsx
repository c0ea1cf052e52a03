/** Short messages about what was done, above everything; they go after a while, or when closed. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { components } from "./messages.ts";
import { failureOf } from "./states.tsx";
import { errorText, saysEnglish } from "../messages/errors.ts";

interface Toast {
  id: number;
  tone: "good" | "bad";
  text: string;
  link?: { href: string; text: string } | undefined;
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;
const SHOWN = 6000;

function add(toast: Omit<Toast, "id">): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, ...toast }];
  if (toast.tone === "good") setTimeout(() => remove(id), SHOWN);
}

function remove(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Say that something was done. */
export function toast(text: string, link?: { href: string; text: string }): void {
  add({ tone: "good", text, link });
}

/** Say that something failed; it stays until it is closed. */
export function toastError(error: unknown): void {
  const { code, detail } = failureOf(error);
  const { means, advice } = errorText(code);
  add({ tone: "bad", text: `${means} ${(saysEnglish() ? detail : null) ?? advice} (${code})` });
}

/** Run an action of a button: a failure becomes a toast. */
export async function attempt(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    toastError(error);
  }
}

/** The page's place of messages, then that of each open dialog. */
const places = signal<readonly object[]>([]);

/**
 * Where messages are shown. What is outside an open dialog is below it and cannot be used, so every
 * dialog has a place, and the last one that is there has the messages.
 */
export function Toasts() {
  const [place] = useState({});
  useEffect(() => {
    places.value = [...places.peek(), place];
    return () => {
      places.value = places.peek().filter((other) => other !== place);
    };
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {places.value.at(-1) === place && toasts.value.map(({ id, tone, text, link }) => (
        <div key={id} class={`toast ${tone}`}>
          <Icon name={tone === "good" ? "check" : "warning"} />
          <p dir="auto">{text} {link && <a href={link.href}>{link.text}</a>}</p>
          <IconButton icon="cross" label={components().close} onClick={() => remove(id)} />
        </div>
      ))}
    </div>
  );
}
