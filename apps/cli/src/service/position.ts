import type { StreamMessage } from './message.js';
import type { Refusal } from './refusal.js';

/** A seq above all others: a stream that goes on after it begins at the present, and its messages have seqs. */
const PRESENT = Number.MAX_SAFE_INTEGER;

/**
 * Where the stream of a job goes on after a break: after the latest event that it has sent.
 *
 * The init of a stream shows the job as it is now. Events that happened before it may follow.
 */
export class Position {
  readonly #isGiven: boolean;
  /** Null for a service that does not know `since`. */
  #since: number | null;
  #initAt = '';
  #goesBack = false;

  /** @param since seq after which to begin; null for the present */
  constructor(since: number | null) {
    this.#isGiven = since !== null;
    this.#since = since ?? PRESENT;
  }

  /** Parameters of the next stream. */
  get query(): { since: number | null } {
    return { since: this.#since };
  }

  /**
   * Move to a message.
   *
   * @returns whether events before it are lost
   */
  moveTo({ type, seq, missed, timestamp }: StreamMessage): boolean {
    const wasPresent = this.#since === PRESENT;
    if (type === 'init') {
      this.#initAt = timestamp;
      this.#goesBack = this.#since !== null && !wasPresent;
    }
    // Messages without a seq, such as those of logs, are not events of the history.
    if (seq !== null) this.#since = seq;
    return missed && !wasPresent;
  }

  /** Whether the events of the history up to the init may go on after this one. A completed job stays completed. */
  isBeforeInit({ type, timestamp }: StreamMessage): boolean {
    return this.#goesBack && type !== 'completed' && timestamp <= this.#initAt;
  }

  /**
   * Go on without `since` after a refusal that may be due to it, because a service of an earlier release does not know it.
   *
   * @returns whether it was in use until now, unless the user has asked for it
   */
  dropsSinceAfter({ status }: Refusal): boolean {
    if (status !== 400 || this.#since === null || this.#isGiven) return false;
    this.#since = null;
    return true;
  }
}
