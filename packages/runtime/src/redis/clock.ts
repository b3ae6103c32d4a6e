import type { Redis } from 'ioredis';

/** What one TIME has said: Redis' clock against ours. */
interface Sample {
  offsetMs: number; // Redis' epoch milliseconds less our `performance.now()`, in the middle of the call.
  errorMs: number; // By how much that may be wrong: half of the time that the call took.
  at: number;
}

/** A sample that was quicker is better, for so long. */
const BEST_FOR_MS = 30_000;

/**
 * Tells Redis' clock without asking it, so that a command can say until when it may be carried out. Our own clock would
 * not do: it may be off by hours.
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
    const middle = (sentAt + receivedAt) / 2;
    const sample = { offsetMs: epochMs - middle, errorMs: (receivedAt - sentAt) / 2, at: receivedAt };
    const best = this.#best.get(node);
    if (!this.#heard.has(node)) node.on('close', () => this.#best.delete(node));
    this.#heard.add(node);
    const isBetter = best === undefined || sample.errorMs <= best.errorMs || receivedAt - best.at > BEST_FOR_MS;
    if (isBetter || hasStepped(best, sample)) this.#best.set(node, sample);
  }

  /** Know nothing until the next TIME: a clock has stepped. */
  forget(): void {
    this.#best.clear();
  }

  /**
   * When it will be so much later by Redis' clock.
   *
   * @param inMs milliseconds from now
   * @returns epoch milliseconds, of a cluster by the clock that is furthest ahead; null while it is not known
   */
  after(inMs: number): number | null {
    if (this.#best.size === 0) return null;
    let offsetMs = Number.NEGATIVE_INFINITY;
    for (const sample of this.#best.values()) offsetMs = Math.max(offsetMs, sample.offsetMs);
    return Math.floor(offsetMs + performance.now() + inMs);
  }
}

/** Whether both cannot be true of one clock that runs as ours does, but for a little that clocks drift apart. */
const DRIFT_MS = 50;
const hasStepped = (one: Sample, other: Sample) =>
  Math.abs(one.offsetMs - other.offsetMs) > one.errorMs + other.errorMs + DRIFT_MS;
