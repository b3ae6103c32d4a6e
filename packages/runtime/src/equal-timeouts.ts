/** Ends by itself after its time, unless it is cleared before. */
export class EqualTimeout {
  /** By `performance.now()`. */
  readonly endsAt: number;
  readonly onEnd: () => void;
  before: EqualTimeout | null = null;
  after: EqualTimeout | null = null;
  #isOver = false;
  readonly #all: EqualTimeouts;

  constructor(all: EqualTimeouts, endsAt: number, onEnd: () => void) {
    this.#all = all;
    this.endsAt = endsAt;
    this.onEnd = onEnd;
  }

  /** Have it not end. After its end, or a second time, nothing happens. */
  clear(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#all.remove(this);
  }
}

/**
 * Time-outs of one length. They end in the order in which they begin, so one timer, for the oldest, does for all of
 * them. A timer of Node's for each call costs 0.25 µs when it is the only one of its length, as in a process that is
 * nearly idle: Node makes and drops the list for that length each time.
 *
 * They keep no process from ending.
 */
export class EqualTimeouts {
  readonly #ms: number;
  #oldest: EqualTimeout | null = null;
  #newest: EqualTimeout | null = null;
  #isTimed = false;

  /** @param ms length in milliseconds */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** @param onEnd must not throw */
  begin(onEnd: () => void): EqualTimeout {
    const timeout = new EqualTimeout(this, performance.now() + this.#ms, onEnd);
    timeout.before = this.#newest;
    if (this.#newest) this.#newest.after = timeout;
    else this.#oldest = timeout;
    this.#newest = timeout;
    if (!this.#isTimed) this.#lookIn(this.#ms);
    return timeout;
  }

  /** Take one out; for itself to call. */
  remove(timeout: EqualTimeout): void {
    const { before, after } = timeout;
    if (before) before.after = after;
    else this.#oldest = after;
    if (after) after.before = before;
    else this.#newest = before;
    // One that has become old would hold those after it, and what they hold, until all of the heap is collected.
    timeout.before = timeout.after = null;
  }

  #lookIn(ms: number): void {
    this.#isTimed = true;
    setTimeout(() => this.#endThoseOver(), Math.ceil(ms)).unref();
  }

  #endThoseOver(): void {
    this.#isTimed = false;
    const now = performance.now();
    for (let oldest = this.#oldest; oldest !== null && oldest.endsAt <= now; oldest = this.#oldest) {
      oldest.clear();
      oldest.onEnd();
    }
    // Unless one that ended has begun another.
    if (this.#oldest && !this.#isTimed) this.#lookIn(this.#oldest.endsAt - now);
  }
}
