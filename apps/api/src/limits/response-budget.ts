import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { YardmasterError } from '@yardmaster/protocol';
import { presentedKey } from '@yardmaster/server';
import { PerKey } from '@yardmaster/store';

/** Responses smaller than this are not counted. A client may have some hundred of them unread on each connection. */
const COUNTED_BYTES = 4_096;

/** Responses of at least this size are refused first. */
const LARGE_BYTES = 262_144;

/** Most unread bytes before large responses are refused; other responses are refused at twice that. */
const MAX_UNREAD_BYTES = 128 * 1_048_576;

/** Most unread bytes in large responses to one API key, so that a slow client does not use the budget of others. */
const MAX_BYTES_PER_KEY = MAX_UNREAD_BYTES / 2;

const refusal = (changesNothing: boolean) =>
  changesNothing
    ? new YardmasterError('OVERLOADED', 'Server is busy sending large responses; send the request again')
    : new YardmasterError('UNAVAILABLE', 'Server is busy sending large responses; the request was carried out');

/**
 * Byte budget of responses that their clients have not read yet. Without a bound, a few hundred clients that send
 * requests and do not read would take all memory. A client that reads nothing for long is cut off by the server's
 * timeout.
 */
export class ResponseBudget {
  #bytes = 0;
  readonly #byKey = new PerKey();
  /** Releases of the unread responses on each connection. */
  readonly #bySocket = new WeakMap<Socket, Set<() => void>>();

  /**
   * Check a response that is about to be written, and count it until it is sent. There must be no await between this
   * call and the writing, because responses that come at once must see each other.
   *
   * @param changesNothing whether its request changed nothing, so that the client may send it again
   * @throws OVERLOADED when the budget is used up; UNAVAILABLE when it is used up and the request changed something
   */
  acquire(res: ServerResponse, bytes: number, changesNothing: boolean): void {
    const { socket } = res.req;
    if (bytes < COUNTED_BYTES || res.closed || socket.destroyed) return;
    const key = String(presentedKey(res.req));
    if (!this.#hasRoom(key, bytes)) throw refusal(changesNothing);
    this.#add(key, bytes);
    const releases = this.#releasesOf(socket);
    const release = () => {
      if (releases.delete(release)) this.#add(key, -bytes);
    };
    releases.add(release);
    res.once('close', release);
  }

  #hasRoom(key: string, bytes: number): boolean {
    const isLarge = bytes >= LARGE_BYTES;
    // A response of any size may be sent when no other is unread: otherwise no client could ever get it.
    const hasRoom = (unread: number, most: number) => unread === 0 || unread + bytes <= most;
    const hasRoomInAll = hasRoom(this.#bytes, isLarge ? MAX_UNREAD_BYTES : 2 * MAX_UNREAD_BYTES);
    return hasRoomInAll && (!isLarge || hasRoom(this.#byKey.get(key), MAX_BYTES_PER_KEY));
  }

  #add(key: string, bytes: number): void {
    this.#bytes += bytes;
    this.#byKey.add(key, bytes);
  }

  /** Return the releases of a connection. They run when it closes, because a response behind another never closes. */
  #releasesOf(socket: Socket): Set<() => void> {
    const known = this.#bySocket.get(socket);
    if (known) return known;
    const releases = new Set<() => void>();
    this.#bySocket.set(socket, releases);
    socket.once('close', () => {
      for (const release of [...releases]) release();
    });
    return releases;
  }
}
