/** A file of an upload, and what the upload asks of the service. */

import type { LocalFile } from "./files.ts";

export type Verdict = "accepted" | "unchanged" | "duplicate" | "rejected";
/** `failed`: the request was refused, or the file cannot be read; it can be tried again. */
export type FileState = "waiting" | "hashing" | "checking" | "queued" | "sending" | Verdict | "failed";
export const STATES: readonly FileState[] = [
  "failed", "rejected", "sending", "queued", "checking", "hashing", "waiting", "accepted", "unchanged", "duplicate",
];

/** Whether nothing more happens to the file by itself. */
export function isEnd(state: FileState): boolean {
  return ["accepted", "unchanged", "duplicate", "rejected", "failed"].includes(state);
}

export interface UploadFile extends Readonly<LocalFile> {
  state: FileState;
  sha256?: string;
  /** Why it is `rejected` or `failed`. */
  code?: string | undefined;
  detail?: string | undefined;
  sourceId?: string | undefined;
}

export interface Verdicts {
  batchId: string;
  files: readonly { verdict: Verdict; code?: string | null; detail?: string | null; knowledgeSourceId?: string | null }[];
}

export interface Known {
  index: number;
  verdict: "unchanged" | "duplicate";
  knowledgeSourceId: string | null;
}

export interface Backend {
  hash(file: File): Promise<string>;
  /** Which of the files are stored already. */
  check(files: readonly { path: string; sha256: string }[], signal: AbortSignal): Promise<readonly Known[]>;
  /** `onSent` is told how many bytes of the request are sent. */
  send(files: readonly UploadFile[], batchId: string | undefined, key: string, signal: AbortSignal, onSent: (bytes: number) => void): Promise<Verdicts>;
  newKey(): string;
}
