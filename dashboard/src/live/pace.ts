/** Pace: however many messages arrive, one render a frame and one request a second. */

export interface Clock {
  /** Milliseconds. */
  now(): number;
  after(milliseconds: number, run: () => void): () => void;
}

export const realClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Run at once, then at most every `interval` milliseconds; calls in between become one at its end. */
export class AtMostEvery {
  private last = Number.NEGATIVE_INFINITY;
  private cancel: (() => void) | undefined;

  constructor(
    private readonly interval: number,
    private readonly run: () => void,
    private readonly clock: Clock = realClock,
  ) {}

  request(): void {
    if (this.cancel) return;
    const wait = Math.max(0, this.last + this.interval - this.clock.now());
    const run = () => {
      this.cancel = undefined;
      this.last = this.clock.now();
      this.run();
    };
    if (wait === 0) run();
    else this.cancel = this.clock.after(wait, run);
  }

  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
  }
}

/** Collects dirty keys and hands them over together, once per frame. */
export class DirtyKeys<K> {
  private keys = new Set<K>();
  private isDue = false;

  constructor(
    private readonly flush: (keys: ReadonlySet<K>) => void,
    private readonly schedule: (run: () => void) => void = nextFrame,
  ) {}

  mark(key: K): void {
    this.keys.add(key);
    if (this.isDue) return;
    this.isDue = true;
    this.schedule(() => {
      this.isDue = false;
      const keys = this.keys;
      this.keys = new Set();
      this.flush(keys);
    });
  }
}

/** In a hidden page frames stand still, and nobody looks: there it waits for the next one. */
function nextFrame(run: () => void): void {
  requestAnimationFrame(() => run());
}
