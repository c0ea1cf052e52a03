/** Hashes files off the main thread: a file in, `{ sha256 }` or `{ error }` out. */

import { Sha256 } from "../screens/upload/sha256.ts";

/** Read into memory at once below this, in bytes. */
const WHOLE = 64 * 1024 * 1024;

async function sha256(file: Blob): Promise<string> {
  // Only https and localhost have it.
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle && file.size <= WHOLE) {
    const digest = new Uint8Array(await subtle.digest("SHA-256", await file.arrayBuffer()));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  const hash = new Sha256();
  const reader = file.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) hash.update(part.value);
  return hash.hex();
}

globalThis.onmessage = async (event: MessageEvent<Blob>) => {
  try {
    postMessage({ sha256: await sha256(event.data) });
  } catch (error) {
    // The file has gone, or may not be read.
    postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
};
