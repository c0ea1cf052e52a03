/** The upload of this page: it goes on while other screens are shown, and is remembered until it is done. */

import { signal } from "@preact/signals";
import { forget, remember, remembered } from "../../app/storage.ts";
import { AtMostEvery } from "../../live/pace.ts";
import { ServiceBackend } from "./backend.ts";
import { nameOf, type LocalFile } from "./files.ts";
import type { Options } from "./options.ts";
import { Uploader } from "./uploader.ts";

export interface Interrupted {
  batchId: string;
  /** As `nameOf` its files. */
  name: string;
  startedAt: string;
}

export const current = signal<Uploader | undefined>(undefined);
/** Grows when the upload has changed, at most four times a second. */
export const changes = signal(0);

let close = () => {};

/** Start an upload; it continues the batch of an interrupted one of the same name. */
export function startUpload(files: readonly LocalFile[], options: Options, applicationId: string): void {
  endUpload();
  const backend = new ServiceBackend(options);
  const pace = new AtMostEvery(250, () => (changes.value += 1));
  const name = nameOf(files);
  const before = interrupted(applicationId);
  let known = before?.name === name ? before.batchId : undefined;
  const upload = new Uploader(files, backend, () => {
    pace.request();
    if (upload.phase === "done" && upload.counts.failed === 0) forget(`upload:${applicationId}`);
    else if (upload.batchId !== undefined && upload.batchId !== known) {
      known = upload.batchId;
      remember(`upload:${applicationId}`, JSON.stringify({ batchId: known, name, startedAt: new Date().toISOString() }));
    }
  }, known);
  close = () => {
    upload.cancel();
    backend.close();
  };
  current.value = upload;
  // After the list is drawn: both together block the page.
  setTimeout(() => upload.start());
}

/** Make room for another upload; one that runs is stopped. */
export function endUpload(): void {
  close();
  close = () => {};
  current.value = undefined;
}

/** The upload that a closed or reloaded page has left. */
export function interrupted(applicationId: string): Interrupted | undefined {
  try {
    return JSON.parse(remembered(`upload:${applicationId}`) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

globalThis.addEventListener?.("beforeunload", (event) => {
  if (current.value?.phase === "running") event.preventDefault();
});
