/** Messages for screen readers: polite, and at most one every 5 seconds; the last one wins. */

import { signal } from "@preact/signals";
import { AtMostEvery } from "./pace.ts";

export const announcement = signal("");

let next = "";
const pace = new AtMostEvery(5000, () => (announcement.value = next));

export function announce(message: string): void {
  next = message;
  pace.request();
}
