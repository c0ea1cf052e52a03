/** Two workers that hash files, opened with the first of them; each has one file at a time. */

import { openWorker } from "../../app/trusted.ts";

const WORKERS = 2;

interface Task {
  file: Blob;
  resolve: (sha256: string) => void;
  reject: (error: Error) => void;
}

export class Hashers {
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Task>();
  private readonly waiting: Task[] = [];

  hash(file: Blob): Promise<string> {
    if (this.idle.length + this.busy.size < WORKERS) this.open();
    return new Promise((resolve, reject) => {
      this.waiting.push({ file, resolve, reject });
      this.next();
    });
  }

  close(): void {
    for (const worker of [...this.idle, ...this.busy.keys()]) worker.terminate();
    this.idle.length = 0;
  }

  private open(): void {
    const worker = openWorker("hash");
    worker.onmessage = ({ data }: MessageEvent<{ sha256?: string; error?: string }>) => this.done(worker, data);
    worker.onerror = () => this.done(worker, { error: "the worker failed" });
    this.idle.push(worker);
  }

  private done(worker: Worker, { sha256, error }: { sha256?: string; error?: string }): void {
    const task = this.busy.get(worker);
    this.busy.delete(worker);
    this.idle.push(worker);
    if (sha256 !== undefined) task?.resolve(sha256);
    else task?.reject(new Error(error));
    this.next();
  }

  private next(): void {
    while (this.idle.length && this.waiting.length) {
      const worker = this.idle.pop()!;
      const task = this.waiting.shift()!;
      this.busy.set(worker, task);
      worker.postMessage(task.file);
    }
  }
}
