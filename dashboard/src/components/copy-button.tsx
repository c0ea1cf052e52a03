import { useState } from "preact/hooks";
import { announce } from "../live/announcer.ts";
import { IconButton } from "./button.tsx";
import { components } from "./messages.ts";

/** Copies a text. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setDone(true);
    announce(components().copied);
    setTimeout(() => setDone(false), 1500);
  };
  return <IconButton icon={isDone ? "check" : "copy"} label={label ?? components().copy} onClick={copy} />;
}

/** Copy to the clipboard, also on plain http, where `navigator.clipboard` does not exist. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "visually-hidden";
  const before = document.activeElement;
  // Inside an open dialog, everything outside it cannot be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return isDone;
}
