import { EventEmitter, once } from 'node:events';
import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';

/** Batches inflated at once: Node has this many threads for inflating. */
const MAX_PARALLEL = 4;

/** What a budget is for, and its size. */
export interface BudgetOptions {
  /** Most bytes of inflated batches on their way to Redis; memory contains each batch several times. */
  maxBytes: number;
  /** How long a batch waits for the budget. */
  maxWaitMs: number;
  /** What the batches contain, for the refusal. */
  what: string;
  /** Called for each batch that waited too long. */
  onRefused?: () => void;
}

/**
 * Byte budget of batches that are not stored yet: of logs, or of jobs. Gzip inflates a megabyte from the connection, or
 * only a few kilobytes, to five megabytes in memory. While the budget is used up, the next batches wait as they were sent.
 */
export class InflateBudget {
  readonly #semaphore = pLimit(MAX_PARALLEL);
  readonly #releases = new EventEmitter();
  readonly #options: BudgetOptions;
  #bytes = 0;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#releases.setMaxListeners(0); // One for each batch that waits.
  }

  /**
   * Inflate a batch once the budget allows it, and count it until `release` is called.
   *
   * @throws OVERLOADED when the batch waited too long; any error of `inflate`
   */
  acquire(inflate: () => Promise<Buffer>): Promise<{ batch: Buffer; release: () => void }> {
    const deadline = this.#deadline();
    return this.#semaphore(async () => {
      while (this.#bytes > this.#options.maxBytes) await this.#waitForRelease(deadline);
      const batch = await inflate();
      return { batch, release: this.#count(batch.length) };
    });
  }

  /**
   * Count bytes of a batch before they arrive, until the returned function is called.
   *
   * @throws OVERLOADED when there was no room for them in time
   */
  async reserve(bytes: number): Promise<() => void> {
    const deadline = this.#deadline();
    while (this.#bytes > 0 && this.#bytes + bytes > this.#options.maxBytes) await this.#waitForRelease(deadline);
    return this.#count(bytes);
  }

  #deadline(): number {
    return performance.now() + this.#options.maxWaitMs;
  }

  async #waitForRelease(deadline: number): Promise<void> {
    const ms = Math.max(0, Math.ceil(deadline - performance.now()));
    try {
      await once(this.#releases, 'release', { signal: AbortSignal.timeout(ms) });
    } catch {
      this.#options.onRefused?.();
      const { what } = this.#options;
      throw new YardmasterError('OVERLOADED', `Server is busy storing ${what}; nothing was stored, retry later`);
    }
  }

  #count(bytes: number): () => void {
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
      this.#releases.emit('release');
    };
  }
}
