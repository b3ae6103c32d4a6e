import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { YardmasterError } from '@yardmaster/protocol';

/** Responses smaller than this are not counted. A client may have some hundred of them unread on each connection. */
const COUNTED_BYTES = 4_096;

/** Responses of at least this size are refused first. */
const LARGE_BYTES = 262_144;

/** Most bytes that may wait for clients to read them before large responses are refused; all others at twice that. */
const MAX_WAITING_BYTES = 128 * 1_048_576;

/** Most of those bytes in large responses to one API key: a client that reads slowly must not do so at others' cost. */
const MAX_BYTES_PER_KEY = MAX_WAITING_BYTES / 2;

const refusal = (changesNothing: boolean) =>
  changesNothing
    ? new YardmasterError('OVERLOADED', 'Server is busy sending large responses; send the request again')
    : new YardmasterError('UNAVAILABLE', 'Server is busy sending large responses; the request was carried out');

/**
 * Responses that their clients have not read yet. Without a bound, a few hundred clients that ask and do not read would
 * take all memory. A client that reads nothing for long is cut off by the server's time-out.
 */
export class ResponseBudget {
  #bytes = 0;
  readonly #byKey = new Map<string, number>();
  /** What waits on each connection, and is released when it closes. */
  readonly #bySocket = new WeakMap<Socket, Set<() => void>>();

  /**
   * Check a response that is about to be written, and count it until it is sent. There must be no await between this
   * call and the writing, because responses that come at once must see each other.
   *
   * @param changesNothing whether its request may be sent again: with any other request, something was done
   * @throws OVERLOADED when the budget is used up; UNAVAILABLE when something was done
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
    // A response of any size may go when no other waits: otherwise no client could ever get it.
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

  /** Return what waits on a connection. A response behind another one never closes when the client goes away. */
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
