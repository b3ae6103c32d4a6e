import type { ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';

/** Answers smaller than this are not counted. */
const LARGE_BYTES = 262_144;

/** How much of large answers may wait for their readers, in bytes. */
const MAX_WAITING_BYTES = 128 * 1_048_576;

/**
 * Large answers that their clients have not read yet: without a bound, a few hundred who ask and do not read would
 * take all the memory there is. A client that reads nothing for long is cut off by the server's time-out.
 */
export class Outgoing {
  #bytes = 0;

  /** @throws UNAVAILABLE when as much is waiting as may be */
  checkRoom(): void {
    if (this.#bytes > MAX_WAITING_BYTES)
      throw new YardmasterError('UNAVAILABLE', 'Too many large answers are being read');
  }

  /** Count an answer that was just written, until it is gone. */
  count(res: ServerResponse, bytes: number): void {
    // A client that is gone already closed its answer, and `close` does not come twice.
    if (bytes < LARGE_BYTES || res.closed || res.destroyed) return;
    this.#bytes += bytes;
    res.once('close', () => {
      this.#bytes -= bytes;
    });
  }
}
