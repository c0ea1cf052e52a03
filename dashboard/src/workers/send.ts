/**
 * Sends parts of an upload off the main thread: for each file of a form, the browser asks the disk,
 * which would block the page. A part in; out come how much is sent, then its answer or failure.
 */

import { ApiError, Client, NetworkError } from "@rag-ingest/client";
import { uploadFetch } from "../screens/upload/upload-fetch.ts";

export interface SendRequest {
  id: number;
  baseUrl: string;
  applicationId: string | undefined;
  key: string;
  fields: Readonly<Record<string, string>>;
  files: readonly { path: string; file: File }[];
}

export interface SendAnswer {
  id: number;
  /** Bytes of the request so far: no answer yet. */
  sent?: number;
  answer?: unknown;
  /** Null: no answer arrived. */
  failure?: { status: number; problem: Record<string, unknown>; retryAfter: number | undefined } | null;
}

const open = new Map<number, AbortController>();

globalThis.onmessage = async ({ data }: MessageEvent<SendRequest | { abort: number }>) => {
  if ("abort" in data) open.get(data.abort)?.abort();
  else {
    postMessage({ id: data.id, ...(await send(data)) } satisfies SendAnswer);
    open.delete(data.id);
  }
};

async function send({ id, baseUrl, applicationId, key, fields, files }: SendRequest): Promise<Omit<SendAnswer, "id">> {
  const abort = new AbortController();
  open.set(id, abort);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { path, file } of files) form.append("files", file, path);
  const client = new Client({ baseUrl, applicationId: () => applicationId, fetch: uploadFetch((sent) => postMessage({ id, sent } satisfies SendAnswer)) });
  const options = { body: form, headers: { "Idempotency-Key": key }, signal: abort.signal };
  try {
    return { answer: await client.request("POST", "/upload/documents", options) };
  } catch (error) {
    if (error instanceof ApiError) {
      return { failure: { status: error.status, problem: { ...error.problem }, retryAfter: error.retryAfter } };
    }
    if (error instanceof NetworkError || abort.signal.aborted) return { failure: null };
    throw error;
  }
}
