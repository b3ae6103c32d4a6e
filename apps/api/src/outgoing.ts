import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
  /** What waits on each connection, and goes with it. */
  readonly #bySocket = new WeakMap<Socket, Set<() => void>>();

  /**
   * Check, and count, an answer that is about to be written, until it is gone. To be called with nothing awaited before
   * the writing: of those who come at once, each must see the others.
   *
   * @throws UNAVAILABLE for a large one when as much is waiting as may be
   */
  count(res: ServerResponse, bytes: number): void {
    const { socket } = res.req;
    if (bytes < LARGE_BYTES || res.closed || socket.destroyed) return;
    if (this.#bytes + bytes > MAX_WAITING_BYTES) {
      throw new YardmasterError('UNAVAILABLE', 'Too many large answers are being read');
    }
    this.#bytes += bytes;
    const waiting = this.#waitingOn(socket);
    const release = () => {
      if (waiting.delete(release)) this.#bytes -= bytes;
    };
    waiting.add(release);
    res.once('close', release);
  }

  /** An answer that stands behind another one on its connection is never closed when the client goes away. */
  #waitingOn(socket: Socket): Set<() => void> {
    const known = this.#bySocket.get(socket);
    if (known) return known;
    const waiting = new Set<() => void>();
    this.#bySocket.set(socket, waiting);
    socket.once('close', () => {
      for (const release of [...waiting]) release();
    });
    return waiting;
  }
}
