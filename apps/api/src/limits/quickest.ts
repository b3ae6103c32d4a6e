/** How long a time counts at least, milliseconds; it counts up to twice as long. */
const WINDOW_MS = 30_000;

/** The shortest of the times that were recorded in the last 30 to 60 s. */
export class Quickest {
  #ms = Number.POSITIVE_INFINITY;
  #before = Number.POSITIVE_INFINITY;
  #since = 0;

  /** Milliseconds; 0 before the first. */
  get ms(): number {
    const ms = Math.min(this.#ms, this.#before);
    return Number.isFinite(ms) ? ms : 0;
  }

  /** @param now time by `performance.now()` */
  record(ms: number, now: number): void {
    if (now - this.#since > WINDOW_MS) {
      this.#before = this.#ms;
      this.#ms = ms;
      this.#since = now;
    }
    this.#ms = Math.min(this.#ms, ms);
  }

  /** Forget longer times: this one is the shortest that is possible now. */
  reset(ms: number): void {
    this.#ms = this.#before = ms;
  }
}
