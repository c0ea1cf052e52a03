/** The worker that sends parts, as a function; see workers/send.ts. */

import { ApiError, NetworkError } from "@rag-ingest/client";
import { openWorker } from "../../app/trusted.ts";
import type { SendAnswer, SendRequest } from "../../workers/send.ts";

interface Waiting {
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
  onSent: (bytes: number) => void;
}

export class Sender {
  private readonly worker = openWorker("send");
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<SendAnswer>) => {
      const part = this.waiting.get(data.id);
      if (data.sent !== undefined) return part?.onSent(data.sent);
      this.waiting.delete(data.id);
      const { failure } = data;
      if (failure === undefined) part?.resolve(data.answer);
      else if (failure === null) part?.reject(new NetworkError("the service does not answer"));
      else part?.reject(new ApiError(failure.status, failure.problem, failure.retryAfter));
    };
  }

  send(request: Omit<SendRequest, "id">, signal: AbortSignal, onSent: (bytes: number) => void): Promise<unknown> {
    const id = ++this.last;
    signal.addEventListener("abort", () => this.worker.postMessage({ abort: id }), { once: true });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onSent });
      this.worker.postMessage({ ...request, id } satisfies SendRequest);
    });
  }

  close(): void {
    this.worker.terminate();
  }
}
