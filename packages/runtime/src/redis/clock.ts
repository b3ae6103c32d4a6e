import type { Redis } from 'ioredis';

/** What one TIME has said: between which bounds Redis' epoch milliseconds less our `performance.now()` are. */
interface Sample {
  leastMs: number; // Redis told its time before we heard it…
  mostMs: number; // …and after we asked.
  at: number;
}

/** A sample with a higher lower bound is better, for so long. */
const BEST_FOR_MS = 30_000;

/** Clocks drift apart by less, between two samples. */
const DRIFT_MS = 50;

/**
 * Tells Redis' clock without asking it, so that a command can say until when it may be carried out. Our own clock would
 * not do: it may be off by hours.
 *
 * It may tell a time that is too early, and none that is too late: a command may be refused although it was in time, but
 * not be carried out after its caller was told that it was not. That is why it goes by the lower bounds: in an overload a
 * TIME, too, waits in front of Redis, and the middle of its round trip is far from when it was told.
 */
export class RedisClock {
  readonly #best = new Map<Redis, Sample>();
  readonly #heard = new WeakSet<Redis>();

  /**
   * Learn from a TIME.
   *
   * @param node the connection; what was learned from it is forgotten when it closes, since the next one may be to another
   * @param epochMs what it has said
   * @param sentAt, receivedAt by `performance.now()`
   */
  learn(node: Redis, epochMs: number, sentAt: number, receivedAt = performance.now()): void {
    const sample = { leastMs: epochMs - receivedAt, mostMs: epochMs - sentAt, at: receivedAt };
    const best = this.#best.get(node);
    if (!this.#heard.has(node)) node.on('close', () => this.#best.delete(node));
    this.#heard.add(node);
    const isBetter = best === undefined || sample.leastMs >= best.leastMs || receivedAt - best.at > BEST_FOR_MS;
    // A step forward is better in any case.
    const hasSteppedBack = best !== undefined && sample.mostMs < best.leastMs - DRIFT_MS;
    if (isBetter || hasSteppedBack) this.#best.set(node, sample);
  }

  /**
   * Hear that Redis found a command too late that was not, by our clock. Once that cannot be our error, its clock has
   * stepped: know nothing until the next TIME.
   *
   * @param earlyMs by how much at least
   */
  doubt(earlyMs: number): void {
    const errors = [...this.#best.values()].map(({ leastMs, mostMs }) => mostMs - leastMs);
    if (earlyMs > Math.max(0, ...errors) + DRIFT_MS) this.#best.clear();
  }

  /**
   * When it will be so much later by Redis' clock, or a little before.
   *
   * @param inMs milliseconds from now
   * @returns epoch milliseconds, of a cluster by the clock that is furthest ahead; null while it is not known
   */
  after(inMs: number): number | null {
    if (this.#best.size === 0) return null;
    let aheadMs = Number.NEGATIVE_INFINITY;
    for (const { leastMs } of this.#best.values()) aheadMs = Math.max(aheadMs, leastMs);
    return Math.floor(aheadMs + performance.now() + inMs);
  }
}
