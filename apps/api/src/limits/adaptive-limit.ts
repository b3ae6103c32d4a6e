/**
 * Requests at Redis at once: to begin with, and between which bounds the limit is kept. With 128, a Redis 100 ms away serves
 * 1 280 a second; 8 are some ms of its work, so that what is urgent is soon there; with 1 000 it serves 10 000 a second.
 */
const FIRST = 128;
const LEAST = 8;
const MOST = 1_000;

/** The limit is changed after so many milliseconds, by what was measured meanwhile. */
const WINDOW_MS = 250;

/**
 * A request is slow when it takes so much longer than the quickest of the last 30 to 60 s: it waited in Redis. A Redis
 * with a CPU limit stands still for the rest of each period of 100 ms, so a request that waits for two periods is not slow.
 */
const SLOW_MS = 250;
const BASELINE_WINDOW_MS = 30_000;

/** What the limit is multiplied by when most requests are slow, and when few are and it was reached: quickly down, and back. */
const LESS = 0.8;
const MORE = 1.2;

/**
 * How many requests may be at Redis at once, by how long they take: as many as it takes to keep Redis busy, and few enough
 * that what is urgent does not wait behind them for long.
 */
export class AdaptiveLimit {
  #value = FIRST;
  #measured = 0;
  #slow = 0;
  #wasReached = false;
  #windowEndsAt = 0;
  #quickestMs = Number.POSITIVE_INFINITY;
  #quickestBefore = Number.POSITIVE_INFINITY;
  #quickestSince = 0;

  get value(): number {
    return this.#value;
  }

  /** A request had to wait because as many were under way. */
  reached(): void {
    this.#wasReached = true;
  }

  /**
   * A request took so many milliseconds.
   *
   * @param now as `performance.now()` tells the time
   * @param others how many were under way when it was sent
   */
  took(ms: number, now: number, others: number): void {
    // Behind so few requests it did not wait in Redis, so its time is the distance to Redis now.
    if (others < LEAST) this.#quickestMs = this.#quickestBefore = ms;
    if (now - this.#quickestSince > BASELINE_WINDOW_MS) {
      this.#quickestBefore = this.#quickestMs;
      this.#quickestMs = ms;
      this.#quickestSince = now;
    }
    this.#quickestMs = Math.min(this.#quickestMs, ms);
    this.#measured++;
    if (ms > Math.min(this.#quickestMs, this.#quickestBefore) + SLOW_MS) this.#slow++;
    if (now >= this.#windowEndsAt) this.#change(now);
  }

  #change(now: number): void {
    if (this.#slow * 2 > this.#measured) this.#value = Math.max(LEAST, Math.floor(this.#value * LESS));
    else if (this.#wasReached) this.#value = Math.min(MOST, Math.ceil(this.#value * MORE));
    this.#measured = this.#slow = 0;
    this.#wasReached = false;
    this.#windowEndsAt = now + WINDOW_MS;
  }
}
