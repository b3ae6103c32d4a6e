import type { ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import pLimit from 'p-limit';

/** Batches inflated at once: Node has this many threads for it. */
const AT_ONCE = 4;

/** How much of batches may be on its way to Redis, in bytes, inflated. */
const MAX_BYTES = 128 * 1_048_576;

/**
 * Batches of logs that are not stored yet: gzip makes a megabyte on the wire five in memory, and while Redis is slow
 * they pile up.
 */
export class Incoming {
  readonly #inTurn = pLimit(AT_ONCE);
  #bytes = 0;

  /**
   * Inflate a batch, and count it until it is answered.
   *
   * @throws UNAVAILABLE when as much is on its way as may be; what `inflate` throws
   */
  take(res: ServerResponse, inflate: () => Promise<Buffer>): Promise<Buffer> {
    return this.#inTurn(async () => {
      if (this.#bytes > MAX_BYTES) throw new YardmasterError('UNAVAILABLE', 'Too many logs are being stored');
      const batch = await inflate();
      this.#count(res, batch.length);
      return batch;
    });
  }

  #count(res: ServerResponse, bytes: number): void {
    // A client that is gone already closed its answer, and `close` does not come twice.
    if (res.closed || res.destroyed) return;
    this.#bytes += bytes;
    res.once('close', () => {
      this.#bytes -= bytes;
    });
  }
}
