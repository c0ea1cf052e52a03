/** The worker that sends parts, as a function; see workers/send.ts. */

import { ApiError, NetworkError } from "@rag-ingest/client";
import { openWorker } from "../../app/trusted.ts";
import type { SendAnswer, SendRequest } from "../../workers/send.ts";

export class Sender {
  private readonly worker = openWorker("send");
  private readonly waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  private last = 0;

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<SendAnswer>) => {
      const part = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      const { failure } = data;
      if (failure === undefined) part?.resolve(data.answer);
      else if (failure === null) part?.reject(new NetworkError("the service does not answer"));
      else part?.reject(new ApiError(failure.status, failure.problem, failure.retryAfter));
    };
  }

  send(request: Omit<SendRequest, "id">, signal: AbortSignal): Promise<unknown> {
    const id = ++this.last;
    signal.addEventListener("abort", () => this.worker.postMessage({ abort: id }), { once: true });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ ...request, id } satisfies SendRequest);
    });
  }

  close(): void {
    this.worker.terminate();
  }
}
