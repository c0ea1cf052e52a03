/**
 * An upload of many files: hash, ask which are missing, send those in parts.
 *
 * Every request may fail and be sent again: a part keeps its Idempotency-Key until its answer has
 * arrived. What was sent before, in another tab or on another day, is known by its hash.
 */

import type { Clock } from "../../live/pace.ts";
import { realClock } from "../../live/pace.ts";
import type { LocalFile } from "./files.ts";
import { isEnd, STATES, type Backend, type FileState, type UploadFile, type Verdicts } from "./upload-file.ts";
import { PartPlanner } from "./plan.ts";

export type Phase = "running" | "paused" | "done" | "cancelled";

/** A failure of a request, as the client throws it. */
interface RequestFailure extends Error {
  status?: number;
  code?: string;
  detail?: string;
  retryAfter?: number | undefined;
  isTemporary?: boolean;
  problem?: Readonly<Record<string, unknown>>;
}

interface Part {
  files: UploadFile[];
  key: string;
  tries: number;
  /** Bytes of the request that is open. */
  sent: number;
}

const HASHERS = 2;
const IN_FLIGHT = 3;
const CHECKED_AT_ONCE = 1000;
const MOST_TRIES = 10;
/** Milliseconds. */
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
/** What no further request will change by itself: the upload pauses, and shows why. */
const STOPS = new Set([401, 403, 507]);

export class Uploader {
  readonly files: readonly UploadFile[];
  readonly counts: Record<FileState, number>;
  readonly totalBytes: number;
  doneBytes = 0;
  phase: Phase = "running";
  /** Why the upload waits or has paused. */
  problem: unknown;
  /** When the next try is, in milliseconds of the clock; undefined: nothing waits. */
  retryAt: number | undefined;

  private readonly abort = new AbortController();
  private readonly hashable: UploadFile[];
  private readonly hashed: UploadFile[] = [];
  private readonly planner = new PartPlanner<UploadFile>();
  private readonly parts: Part[] = [];
  private hashing = 0;
  private isChecking = false;
  private readonly inFlight = new Set<Part>();
  private failures = 0;
  private cancelTimer: (() => void) | undefined;

  constructor(
    files: readonly LocalFile[],
    private readonly backend: Backend,
    /** Called after each change; coalescing is up to the listener. */
    private readonly onChange: () => void,
    /** The batch of an interrupted upload, to continue; afterwards that of this one. */
    public batchId: string | undefined = undefined,
    private readonly clock: Clock = realClock,
    private readonly random: () => number = Math.random,
  ) {
    this.files = files.map((file) => ({ ...file, state: "waiting" }));
    this.hashable = [...this.files].reverse();
    this.totalBytes = this.files.reduce((sum, { size }) => sum + size, 0);
    this.counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<FileState, number>;
    this.counts.waiting = this.files.length;
  }

  /** Bytes of files that have arrived, or are on their way. */
  get sentBytes(): number {
    // A request is a little larger than its files.
    const onWay = [...this.inFlight].map(({ files, sent }) => Math.min(sent, files.reduce((sum, { size }) => sum + size, 0)));
    return onWay.reduce((sum, bytes) => sum + bytes, this.doneBytes);
  }

  start(): void {
    this.pump();
  }

  /** Start nothing new; what is on its way arrives. */
  pause(): void {
    if (this.phase === "running") this.stop("paused");
  }

  resume(): void {
    if (this.phase !== "paused") return;
    this.phase = "running";
    this.problem = undefined;
    this.waitNoLonger();
  }

  /** Stop for good. What has arrived stays. */
  cancel(): void {
    if (this.phase === "done" || this.phase === "cancelled") return;
    this.stop("cancelled");
    this.abort.abort();
  }

  /** Try the files again whose request failed. */
  retryFailed(): void {
    for (const file of this.files) {
      if (file.state !== "failed") continue;
      file.code = file.detail = undefined;
      this.move(file, "waiting");
      this.hashable.push(file);
    }
    if (this.phase === "done") this.phase = "running";
    this.waitNoLonger();
  }

  /** Try now what waits after a failure. */
  waitNoLonger(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.retryAt = undefined;
    this.pump();
  }

  private stop(phase: "paused" | "cancelled"): void {
    this.phase = phase;
    this.cancelTimer?.();
    this.cancelTimer = this.retryAt = undefined;
    this.onChange();
  }

  private move(file: UploadFile, state: FileState): void {
    const wasOpen = !isEnd(file.state);
    this.counts[file.state] -= 1;
    this.counts[state] += 1;
    file.state = state;
    if (isEnd(state) && wasOpen) this.doneBytes += file.size;
    if (!isEnd(state) && !wasOpen) this.doneBytes -= file.size;
  }

  /** Start whatever can start now. */
  private pump(): void {
    if (this.phase === "running") {
      while (this.hashing < HASHERS && this.hashable.length > 0) void this.hash(this.hashable.pop()!);
      if (this.retryAt === undefined) {
        this.check();
        if (this.isIdle("hash") && this.isIdle("check") && !this.planner.isEmpty) this.addPart(this.planner.flush());
        // The first answer names the batch, which the others join.
        const most = this.batchId === undefined ? 1 : IN_FLIGHT;
        while (this.inFlight.size < most && this.parts.length > 0) void this.send(this.parts.shift()!);
      }
      const isDone = this.isIdle("hash") && this.isIdle("check") && this.parts.length === 0 && this.inFlight.size === 0;
      if (isDone && this.planner.isEmpty) this.phase = "done";
    }
    this.onChange();
  }

  private isIdle(step: "hash" | "check"): boolean {
    return step === "hash" ? this.hashing === 0 && this.hashable.length === 0 : !this.isChecking && this.hashed.length === 0;
  }

  private async hash(file: UploadFile): Promise<void> {
    this.hashing += 1;
    this.move(file, "hashing");
    try {
      file.sha256 = await this.backend.hash(file.file);
      this.move(file, "checking");
      this.hashed.push(file);
    } catch (error) {
      this.fail([file], "unreadable", (error as Error).message);
    }
    this.hashing -= 1;
    this.pump();
  }

  private check(): void {
    if (this.isChecking || this.hashed.length === 0) return;
    if (this.hashed.length < CHECKED_AT_ONCE && !this.isIdle("hash")) return;
    this.isChecking = true;
    void this.ask(this.hashed.splice(0, CHECKED_AT_ONCE));
  }

  private async ask(files: UploadFile[]): Promise<void> {
    try {
      const asked = files.map(({ path, sha256 }) => ({ path, sha256: sha256! }));
      const known = await this.backend.check(asked, this.abort.signal);
      this.succeeded();
      const verdicts = new Map(known.map((item) => [item.index, item]));
      for (const [index, file] of files.entries()) {
        const item = verdicts.get(index);
        if (item) {
          file.sourceId = item.knowledgeSourceId ?? undefined;
          this.move(file, item.verdict);
        } else {
          this.move(file, "queued");
          for (const part of this.planner.add(file)) this.addPart(part);
        }
      }
    } catch (error) {
      this.hashed.unshift(...files);
      const failure = error as RequestFailure;
      if (!this.isLater(failure)) {
        this.hashed.splice(0, files.length);
        this.fail(files, failure.code ?? "unexpected", failure.detail ?? failure.message);
      }
    }
    this.isChecking = false;
    this.pump();
  }

  private addPart(files: UploadFile[]): void {
    this.parts.push({ files, key: this.backend.newKey(), tries: 0, sent: 0 });
  }

  private async send(part: Part): Promise<void> {
    this.inFlight.add(part);
    part.sent = 0;
    const onSent = (bytes: number) => {
      part.sent = bytes;
      this.onChange();
    };
    const { batchId } = this;
    for (const file of part.files) this.move(file, "sending");
    try {
      const answer = await this.backend.send(part.files, batchId, part.key, this.abort.signal, onSent);
      this.succeeded();
      this.batchId = answer.batchId;
      this.judge(part.files, answer.files);
    } catch (error) {
      await this.sendingFailed(part, batchId, error as RequestFailure);
    }
    this.inFlight.delete(part);
    this.pump();
  }

  private judge(files: readonly UploadFile[], verdicts: Verdicts["files"]): void {
    for (const [i, file] of files.entries()) {
      const { verdict, code, detail, knowledgeSourceId } = verdicts[i]!;
      Object.assign(file, { code: code ?? undefined, detail: detail ?? undefined, sourceId: knowledgeSourceId ?? undefined });
      this.move(file, verdict);
    }
  }

  private async sendingFailed(part: Part, batchId: string | undefined, failure: RequestFailure): Promise<void> {
    if (failure.code === "nothing_accepted") {
      this.succeeded();
      this.judge(part.files, failure.problem!.files as Verdicts["files"]);
      return;
    }
    // A browser cannot tell a file that has changed from a broken connection.
    if (failure.name === "NetworkError" && this.phase !== "cancelled") part.files = await this.readable(part.files);
    for (const file of part.files) this.move(file, "queued");
    if (part.files.length === 0) return;
    part.tries += 1;
    if (failure.status === 413 && part.files.length > 1) {
      // A proxy takes less than a part.
      const half = Math.ceil(part.files.length / 2);
      this.addPart(part.files.slice(0, half));
      this.addPart(part.files.slice(half));
    } else if (failure.status === 404 && batchId !== undefined) {
      // The batch of the interrupted upload has gone.
      if (this.batchId === batchId) this.batchId = undefined;
      this.addPart(part.files);
    } else if ((part.tries < MOST_TRIES || failure.name === "NetworkError") && this.isLater(failure)) {
      this.parts.unshift(part);
    } else this.fail(part.files, failure.code ?? "unexpected", failure.detail ?? failure.message);
  }

  private async readable(files: readonly UploadFile[]): Promise<UploadFile[]> {
    const kept: UploadFile[] = [];
    for (const file of files) {
      try {
        await file.file.slice(0, 1).arrayBuffer();
        kept.push(file);
      } catch (error) {
        this.fail([file], "unreadable", (error as Error).message);
      }
    }
    return kept;
  }

  private fail(files: readonly UploadFile[], code: string, detail: string): void {
    for (const file of files) {
      Object.assign(file, { code, detail });
      this.move(file, "failed");
    }
  }

  private succeeded(): void {
    this.failures = 0;
    if (this.retryAt === undefined) this.problem = undefined;
  }

  /** Whether to try again: after a wait, or once somebody resumes. */
  private isLater(failure: RequestFailure): boolean {
    if (this.phase === "cancelled") return true;
    if (STOPS.has(failure.status ?? 0)) {
      this.problem = failure;
      this.stop("paused");
      return true;
    }
    if (failure.name !== "NetworkError" && !failure.isTemporary) return false;
    this.problem = failure;
    if (this.phase !== "running" || this.retryAt !== undefined) return true;
    const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.failures++);
    const asked = failure.retryAfter === undefined ? 0 : failure.retryAfter * 1000;
    const wait = Math.max(asked, longest / 2 + (this.random() * longest) / 2);
    this.retryAt = this.clock.now() + wait;
    this.cancelTimer = this.clock.after(wait, () => this.waitNoLonger());
    return true;
  }
}
