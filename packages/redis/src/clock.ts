import type { Redis } from 'ioredis';

/** Bounds from a TIME reply for the difference between Redis's epoch milliseconds and our `performance.now()`. */
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

/** How long a sample with a higher lower bound is preferred, milliseconds. */
const BEST_FOR_MS = 30_000;

/** Maximum drift between the clocks from one sample to the next, milliseconds. */
const DRIFT_MS = 50;

/**
 * Estimates Redis's clock without asking it, so that a command can carry its own deadline. Our own clock is useless for
 * this, because it may be off by hours.
 *
 * The estimate may be early, but never late: a command may be refused although it was in time, but must not be carried out
 * after its client was told that nothing was done. That is why the estimate uses the lower bounds. Under overload, a TIME
 * waits in a queue before Redis, and the middle of its round trip is far from the moment when Redis read its clock.
 */
export class RedisClock {
  readonly #best = new Map<Redis, Sample>();
  readonly #watched = new WeakSet<Redis>();

  /**
   * Learn from a TIME reply.
   *
   * @param node connection; its sample is dropped when it closes, because the next one may be to another server
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
   * Report that a command was late by Redis's clock but in time by our estimate. If our estimate can't be that wrong, Redis's
   * clock has stepped, and is unknown until the next TIME.
   *
   * @param earlyMs minimum time that the command had left by our estimate, milliseconds
   */
  reportTooLate(earlyMs: number): void {
    const errors = [...this.#best.values()].map(({ leastMs, mostMs }) => mostMs - leastMs);
    if (earlyMs > Math.max(0, ...errors) + DRIFT_MS) this.#best.clear();
  }

  /**
   * Return what Redis's clock will show after some milliseconds, or slightly less.
   *
   * @param inMs milliseconds from now
   * @returns epoch milliseconds, in a cluster by the clock that is furthest ahead; null while it is unknown
   */
  after(inMs: number): number | null {
    if (this.#best.size === 0) return null;
    let aheadMs = Number.NEGATIVE_INFINITY;
    for (const { leastMs } of this.#best.values()) aheadMs = Math.max(aheadMs, leastMs);
    return Math.floor(aheadMs + performance.now() + inMs);
  }
}
