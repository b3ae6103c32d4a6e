import { EventEmitter, once } from 'node:events';
import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';

/** Batches inflated at once: Node has this many threads for inflating. */
const MAX_PARALLEL = 4;

/** Most bytes of inflated batches on their way to Redis; memory contains each batch several times. */
const MAX_BYTES = 16 * 1_048_576;

/**
 * Byte budget of batches of logs that are not stored yet. Gzip inflates a megabyte from the connection, or only a few
 * kilobytes, to five megabytes in memory. While the budget is used up, the next batches wait as they were sent.
 */
export class InflateBudget {
  readonly #semaphore = pLimit(MAX_PARALLEL);
  readonly #releases = new EventEmitter();
  readonly #maxWaitMs: number;
  readonly #onRefused: () => void;
  #bytes = 0;

  /**
   * @param maxWaitMs how long a batch waits for the budget
   * @param onRefused called for each batch that waited too long
   */
  constructor(maxWaitMs: number, onRefused: () => void) {
    this.#maxWaitMs = maxWaitMs;
    this.#onRefused = onRefused;
  }

  /**
   * Inflate a batch once the budget allows it, and count it until `release` is called.
   *
   * @throws OVERLOADED when the batch waited too long; any error of `inflate`
   */
  acquire(inflate: () => Promise<Buffer>): Promise<{ batch: Buffer; release: () => void }> {
    const deadline = performance.now() + this.#maxWaitMs;
    return this.#semaphore(async () => {
      while (this.#bytes > MAX_BYTES) await this.#waitForRelease(deadline - performance.now());
      const batch = await inflate();
      const { length } = batch; // The closure that releases it must not keep the batch.
      this.#bytes += length;
      return { batch, release: () => this.#release(length) };
    });
  }

  async #waitForRelease(ms: number): Promise<void> {
    try {
      await once(this.#releases, 'release', { signal: AbortSignal.timeout(Math.max(0, Math.ceil(ms))) });
    } catch {
      this.#onRefused();
      throw new YardmasterError('OVERLOADED', 'Server is busy storing logs; nothing was stored, retry later');
    }
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    this.#releases.emit('release');
  }
}
