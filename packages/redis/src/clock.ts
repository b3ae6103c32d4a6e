import type { Redis } from 'ioredis';

/** Bounds from one TIME reply for the difference between Redis' epoch milliseconds and our `performance.now()`. */
interface Sample {
  leastMs: number; // Redis read its clock before we received the reply…
  mostMs: number; // …and after we sent the command.
  at: number;
}

/** A reply to TIME. */
export interface TimeReply {
  /** The time in the reply. */
  epochMs: number;
  /** When the command was sent, by `performance.now()`. */
  sentAt: number;
  /** When the reply was received, by `performance.now()`. */
  receivedAt: number;
}

/** Within this time, a sample with a higher lower bound is better. */
const BEST_FOR_MS = 30_000;

/** Clocks drift apart by less than this between two samples. */
const DRIFT_MS = 50;

/**
 * Estimates Redis' clock without asking it, so that a command can contain the time until which Redis may carry it out.
 * Our own clock is not usable, because it may be off by hours.
 *
 * The estimate may be too early, but never too late. A command may be refused although it was in time, but it must not
 * be carried out after its client got the response that nothing was done. That is why the estimate uses the lower
 * bounds. In an overload, a TIME waits in a queue before Redis. The middle of its round trip is then far from the
 * moment at which Redis read its clock.
 */
export class RedisClock {
  readonly #best = new Map<Redis, Sample>();
  readonly #watched = new WeakSet<Redis>();

  /**
   * Learn from a TIME reply.
   *
   * @param node the connection; when it closes, its sample is dropped, because the next one may be to another server
   */
  learn(node: Redis, { epochMs, sentAt, receivedAt }: TimeReply): void {
    const sample = { leastMs: epochMs - receivedAt, mostMs: epochMs - sentAt, at: receivedAt };
    const best = this.#best.get(node);
    if (!this.#watched.has(node)) node.on('close', () => this.#best.delete(node));
    this.#watched.add(node);
    const isBetter = best === undefined || sample.leastMs >= best.leastMs || receivedAt - best.at > BEST_FOR_MS;
    // A step forward is always better.
    const hasSteppedBack = best !== undefined && sample.mostMs < best.leastMs - DRIFT_MS;
    if (isBetter || hasSteppedBack) this.#best.set(node, sample);
  }

  /**
   * Note that a command was too late by Redis' clock and in time by our estimate. When our estimate cannot be so wrong,
   * Redis' clock has stepped: it is then unknown until the next TIME.
   *
   * @param earlyMs by how much the command was in time, at least
   */
  reportTooLate(earlyMs: number): void {
    const errors = [...this.#best.values()].map(({ leastMs, mostMs }) => mostMs - leastMs);
    if (earlyMs > Math.max(0, ...errors) + DRIFT_MS) this.#best.clear();
  }

  /**
   * Return the time by Redis' clock after some milliseconds, or a little earlier.
   *
   * @param inMs milliseconds from now
   * @returns epoch milliseconds, in a cluster by the clock that is furthest ahead; null while it is not known
   */
  after(inMs: number): number | null {
    if (this.#best.size === 0) return null;
    let aheadMs = Number.NEGATIVE_INFINITY;
    for (const { leastMs } of this.#best.values()) aheadMs = Math.max(aheadMs, leastMs);
    return Math.floor(aheadMs + performance.now() + inMs);
  }
}
