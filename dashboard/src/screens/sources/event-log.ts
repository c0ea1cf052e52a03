/** The events of a source in order, each once, from lists and live messages. */

export interface LoggedEvent {
  seq: number;
  type: string;
  at: string | undefined;
  data: Readonly<Record<string, unknown>>;
}

export class EventLog {
  private readonly events = new Map<number, LoggedEvent>();
  /** The first event that was asked for: earlier ones are read on request. */
  private first = Number.POSITIVE_INFINITY;
  private last = 0;

  add(event: LoggedEvent): void {
    if (this.events.has(event.seq)) return;
    this.events.set(event.seq, event);
    this.first = Math.min(this.first, event.seq);
    this.last = Math.max(this.last, event.seq);
  }

  /** After which number to read on; undefined: nothing is missing between the first and the last. */
  gap(): number | undefined {
    if (this.last === 0 || this.events.size === this.last - this.first + 1) return undefined;
    let seq = this.first;
    while (this.events.has(seq)) seq += 1;
    return seq - 1;
  }

  /** The number before the first event that is known; 0: there are no earlier ones. */
  get before(): number {
    return Number.isFinite(this.first) ? this.first - 1 : 0;
  }

  get lastSeq(): number {
    return this.last;
  }

  newestFirst(): LoggedEvent[] {
    return [...this.events.values()].sort((a, b) => b.seq - a.seq);
  }
}
