/** Whether the service answers. While it does not, the page asks until it does, then reloads its data. */

import { signal } from "@preact/signals";

/** False while the service does not answer. */
export const isUp = signal(true);
/** Grows each time the service or the live connection is back: what shows data loads it again. */
export const recoveries = signal(0);

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 10_000;
/** Of a proxy without a service behind it, or a service that starts or stops. */
const AWAY = [502, 503, 504];

let timer: ReturnType<typeof setTimeout> | undefined;

/** fetch that notices when the service is away. */
export async function watchedFetch(input: URL | RequestInfo, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    if (response.status === 502 || response.status === 504) lost();
    return response;
  } catch (error) {
    if (!init?.signal?.aborted) lost();
    throw error;
  }
}

function lost(): void {
  if (timer !== undefined) return;
  isUp.value = false;
  probe(FIRST_WAIT);
}

function probe(wait: number): void {
  timer = setTimeout(async () => {
    if (await isHealthy()) {
      timer = undefined;
      isUp.value = true;
      recoveries.value += 1;
    } else probe(Math.min(wait * 1.5, LONGEST_WAIT));
  }, wait);
}

async function isHealthy(): Promise<boolean> {
  try {
    const response = await fetch(new URL("healthz", document.baseURI), { cache: "no-store" });
    return !AWAY.includes(response.status);
  } catch {
    return false;
  }
}

/** Ask at once instead of after the wait. */
export function probeNow(): void {
  if (timer === undefined) return;
  clearTimeout(timer);
  probe(0);
}

globalThis.addEventListener?.("online", probeNow);
