import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';

/** Batches inflated at once: Node has this many threads for inflating. */
const AT_ONCE = 4;

/** Most bytes of inflated batches on their way to Redis; in memory each batch is there several times. */
const MAX_BYTES = 16 * 1_048_576;

/**
 * Batches of logs that are not stored yet. Gzip inflates a megabyte from the connection, or only a few kilobytes, to
 * five megabytes in memory. While the budget is used up, the next batches wait as they were sent.
 */
export class InflateBudget {
  readonly #inTurn = pLimit(AT_ONCE);
  #bytes = 0;
  readonly #waiting = new Set<() => void>();
  readonly #onRefused: () => void;
  readonly #patienceMs: number;

  /**
   * @param patienceMs how long a batch waits for room
   * @param onRefused called for each batch for which there was no room
   */
  constructor(patienceMs: number, onRefused: () => void) {
    this.#patienceMs = patienceMs;
    this.#onRefused = onRefused;
  }

  /**
   * Inflate a batch when there is room for it, and count it until `release` is called.
   *
   * @throws OVERLOADED when there was no room in time; what `inflate` throws
   */
  take(inflate: () => Promise<Buffer>): Promise<{ batch: Buffer; release: () => void }> {
    const giveUpAt = performance.now() + this.#patienceMs;
    return this.#inTurn(async () => {
      while (this.#bytes > MAX_BYTES) await this.#change(giveUpAt);
      const batch = await inflate();
      const { length } = batch; // The closure that releases it must not keep the batch.
      this.#bytes += length;
      return { batch, release: () => this.#release(length) };
    });
  }

  /** Wait until a batch is released. */
  #change(giveUpAt: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const tooLate = new YardmasterError('OVERLOADED', 'Server is busy storing logs; nothing was stored, retry later');
      const refuse = () => {
        this.#onRefused();
        reject(tooLate);
      };
      const timer = setTimeout(() => settle(refuse), Math.max(0, giveUpAt - performance.now()));
      const settle = (then: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(go);
        then();
      };
      const go = () => settle(resolve);
      this.#waiting.add(go);
    });
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    for (const go of [...this.#waiting]) go();
  }
}
