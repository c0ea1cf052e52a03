/** What an upload asks of the service. */

import { Client } from "@rag-ingest/client";
import { watchedFetch } from "../../app/connection.ts";
import { api, chosenApplication } from "../../app/session.ts";
import { Hashers } from "./hashers.ts";
import type { Options } from "./options.ts";
import { Sender } from "./sender.ts";
import type { Backend, UploadFile, Verdicts } from "./upload-file.ts";

export class ServiceBackend implements Backend {
  private readonly hashers = new Hashers();

  private readonly sender = new Sender();
  /** The application that was chosen at the start: the reader may choose another one meanwhile. */
  private readonly applicationId = chosenApplication.peek();

  private readonly client = new Client({ baseUrl: api.baseUrl, applicationId: () => this.applicationId, fetch: watchedFetch });

  constructor(private readonly options: Options) {}

  hash(file: File): Promise<string> {
    return this.hashers.hash(file);
  }

  async check(files: readonly { path: string; sha256: string }[], signal: AbortSignal) {
    const { metadata, onConflict, collectionId } = this.options;
    const answer = await this.client.post("/upload/check", {
      body: { files: [...files], onConflict, ...(metadata && { metadata }), ...(collectionId && { collectionId }) },
      signal,
    });
    return answer.known;
  }

  send(files: readonly UploadFile[], batchId: string | undefined, key: string, signal: AbortSignal, onSent: (bytes: number) => void): Promise<Verdicts> {
    const { metadata, onConflict, collectionId, priority, chunking } = this.options;
    const given = {
      batchId, onConflict, collectionId,
      priority: priority ? String(priority) : undefined,
      metadata: metadata && JSON.stringify(metadata),
      chunking: chunking && JSON.stringify(chunking),
    };
    const fields = Object.fromEntries(Object.entries(given).filter((field): field is [string, string] => Boolean(field[1])));
    const request = {
      baseUrl: api.baseUrl.href,
      applicationId: this.applicationId,
      key,
      fields,
      files: files.map(({ file, path }) => ({ file, path })),
    };
    return this.sender.send(request, signal, onSent) as Promise<Verdicts>;
  }

  newKey(): string {
    // `randomUUID` does not exist on plain http.
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  close(): void {
    this.hashers.close();
    this.sender.close();
  }
}
