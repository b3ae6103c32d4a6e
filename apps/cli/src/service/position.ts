import type { StreamMessage } from './message.js';

/** A seq above all others: a stream that resumes after it starts at the present, and its messages have seqs. */
const PRESENT = Number.MAX_SAFE_INTEGER;

/**
 * Track where to resume the stream of a job after a lost connection: after the latest event that it has sent.
 *
 * The init of a stream shows the job as it is now. Events that happened before it can follow.
 */
export class Position {
  #since: number;
  #initAt = '';
  #replays = false;

  /** @param since seq after which to begin; null for the present */
  constructor(since: number | null) {
    this.#since = since ?? PRESENT;
  }

  /** Parameters of the next stream. */
  get query(): { since: number } {
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
      this.#replays = !wasPresent;
    }
    // Messages without a seq, such as those of logs, are not events of the history.
    if (seq !== null) this.#since = seq;
    return missed && !wasPresent;
  }

  /** Whether events of the history up to the init can follow this one. A completed job stays completed. */
  isBeforeInit({ type, timestamp }: StreamMessage): boolean {
    return this.#replays && type !== 'completed' && timestamp <= this.#initAt;
  }
}
