/** What an upload asks of the service. */

import { api } from "../../app/session.ts";
import { Hashers } from "./hashers.ts";
import type { Options } from "./options.ts";
import type { Backend, UploadFile, Verdicts } from "./uploader.ts";

export class ServiceBackend implements Backend {
  private readonly hashers = new Hashers();

  constructor(private readonly options: Options) {}

  hash(file: File): Promise<string> {
    return this.hashers.hash(file);
  }

  async check(files: readonly { path: string; sha256: string }[], signal: AbortSignal) {
    const { metadata, onConflict, collectionId } = this.options;
    const answer = await api.post("/upload/check", {
      body: { files: [...files], onConflict, ...(metadata && { metadata }), ...(collectionId && { collectionId }) },
      signal,
    });
    return answer.known;
  }

  send(files: readonly UploadFile[], batchId: string | undefined, key: string, signal: AbortSignal): Promise<Verdicts> {
    const { metadata, onConflict, collectionId, priority, chunking } = this.options;
    const form = new FormData();
    const fields = {
      batchId, onConflict, collectionId,
      priority: priority ? String(priority) : undefined,
      metadata: metadata && JSON.stringify(metadata),
      chunking: chunking && JSON.stringify(chunking),
    };
    for (const [name, value] of Object.entries(fields)) if (value) form.append(name, value);
    for (const { file, path } of files) form.append("files", file, path);
    return api.post("/upload/documents", { body: form, headers: { "Idempotency-Key": key }, signal });
  }

  newKey(): string {
    // `randomUUID` does not exist on plain http.
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  close(): void {
    this.hashers.close();
  }
}
