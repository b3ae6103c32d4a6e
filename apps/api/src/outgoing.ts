import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { YardmasterError } from '@yardmaster/protocol';

/** Answers smaller than this are not counted. A client may have some hundred of them unread on each connection. */
const COUNTED_BYTES = 4_096;

/** Answers of this size are refused first. */
const LARGE_BYTES = 262_144;

/** How much may wait for its readers, in bytes, before large answers are refused; all others at twice that. */
const MAX_WAITING_BYTES = 128 * 1_048_576;

/** How much of that large answers to one API key may be: whoever reads slowly shall not do so at the cost of others. */
const MAX_BYTES_PER_KEY = MAX_WAITING_BYTES / 2;

const refusal = (changesNothing: boolean) =>
  changesNothing
    ? new YardmasterError('OVERLOADED', 'Server is busy sending large responses; send the request again')
    : new YardmasterError('UNAVAILABLE', 'Server is busy sending large responses; the request was carried out');

/**
 * Answers that their clients have not read yet: without a bound, a few hundred who ask and do not read would take all
 * the memory there is. A client that reads nothing for long is cut off by the server's time-out.
 */
export class Outgoing {
  #bytes = 0;
  readonly #byKey = new Map<string, number>();
  /** What waits on each connection, and goes with it. */
  readonly #bySocket = new WeakMap<Socket, Set<() => void>>();

  /**
   * Check, and count, an answer that is about to be written, until it is gone. To be called with nothing awaited before
   * the writing: of those who come at once, each must see the others.
   *
   * @param changesNothing whether its request may be sent again: of any other, something was done
   * @throws OVERLOADED when as much is waiting as may be; UNAVAILABLE when something was done
   */
  count(res: ServerResponse, bytes: number, changesNothing: boolean): void {
    const { socket, headers } = res.req;
    if (bytes < COUNTED_BYTES || res.closed || socket.destroyed) return;
    const key = String(headers['x-api-key']);
    if (!this.#hasRoom(key, bytes)) throw refusal(changesNothing);
    this.#add(key, bytes);
    const waiting = this.#waitingOn(socket);
    const release = () => {
      if (waiting.delete(release)) this.#add(key, -bytes);
    };
    waiting.add(release);
    res.once('close', release);
  }

  #hasRoom(key: string, bytes: number): boolean {
    const isLarge = bytes >= LARGE_BYTES;
    // However large, an answer may go when no other waits: else nobody could ever have it.
    const hasRoom = (waiting: number, most: number) => waiting === 0 || waiting + bytes <= most;
    const isRoomForAll = hasRoom(this.#bytes, isLarge ? MAX_WAITING_BYTES : 2 * MAX_WAITING_BYTES);
    return isRoomForAll && (!isLarge || hasRoom(this.#ofKey(key), MAX_BYTES_PER_KEY));
  }

  #ofKey(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  #add(key: string, bytes: number): void {
    this.#bytes += bytes;
    const left = this.#ofKey(key) + bytes;
    if (left > 0) this.#byKey.set(key, left);
    else this.#byKey.delete(key);
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
