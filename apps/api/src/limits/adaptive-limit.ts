import { Quickest } from './quickest.js';

/**
 * Requests at Redis at once: the first limit, and the bounds of the limit. With 128, a Redis at a distance of 100 ms
 * serves 1,280 a second. 8 requests are some ms of work, so that an urgent request does not wait long behind them. With
 * 1,000, the same Redis serves 10,000 a second.
 */
const FIRST = 128;
const LEAST = 8;
const MOST = 1_000;

/** Time between two changes of the limit. */
const WINDOW_MS = 250;

/**
 * A request is slow when it takes so much longer than the quickest of the last 30 to 60 s, because it waited in Redis.
 * A Redis with a CPU limit pauses for the rest of each 100 ms. A request that waits for two such pauses is not slow.
 */
const SLOW_MS = 250;

/** Factors of the limit: when most requests are slow, and when few are slow and the limit was reached. */
const LESS = 0.8;
const MORE = 1.2;

/**
 * Limits how many requests may be at Redis at once, by how long they take. The limit keeps Redis busy, but an urgent
 * request does not wait long behind the others.
 */
export class AdaptiveLimit {
  #value = FIRST;
  #measured = 0;
  #slow = 0;
  #wasReached = false;
  #windowEndsAt = 0;
  readonly #quickest = new Quickest();

  get value(): number {
    return this.#value;
  }

  /** Record that a request had to wait because the limit was reached. */
  recordReached(): void {
    this.#wasReached = true;
  }

  /**
   * Record how many milliseconds a request took.
   *
   * @param now time by `performance.now()`
   * @param others how many requests were under way when it was sent
   */
  record(ms: number, now: number, others: number): void {
    // With so few others it did not wait in Redis, so its time is the current round trip.
    if (others < LEAST) this.#quickest.reset(ms);
    this.#quickest.record(ms, now);
    this.#measured++;
    if (ms > this.#quickest.ms + SLOW_MS) this.#slow++;
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
