import type { Socket } from 'node:net';
import type { HttpSocket } from './http-socket.js';

/** Pauses the reading of a connection while at least one reason is set. */
export class Reading {
  readonly #socket: HttpSocket;
  readonly #reasons = new Set<unknown>();
  #isPausedByNode: boolean;

  constructor(socket: Socket) {
    this.#socket = socket as HttpSocket;
    this.#isPausedByNode = this.#socket._paused;
    // Node goes on reading once responses are read, so it must find that the socket is still paused.
    Object.defineProperty(socket, '_paused', {
      get: () => this.#isPausedByNode || this.#reasons.size > 0,
      set: (isPaused: boolean) => {
        this.#isPausedByNode = isPaused;
      },
    });
  }

  /** Stop reading. What has been read already is still served. */
  pause(reason: unknown): void {
    this.#reasons.add(reason);
    this.#socket.pause();
  }

  /**
   * Go on reading, unless there is another reason not to.
   *
   * @returns whether the connection is still there
   */
  resume(reason: unknown): boolean {
    if (this.#socket.destroyed) return false;
    if (this.#reasons.delete(reason) && !this.#socket._paused) {
      this.#socket.parser?.resume();
      this.#socket.resume();
    }
    return true;
  }
}

const READING = Symbol('reading of a connection');

/** Return the reading of a connection; it is created the first time that a caller needs it. */
export function readingOf(socket: Socket & { [READING]?: Reading }): Reading {
  socket[READING] ??= new Reading(socket);
  return socket[READING];
}
