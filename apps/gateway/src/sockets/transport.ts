import type { Writable } from 'node:stream';

/** The connection of a stream: a WebSocket, or the response of an event stream. */
export abstract class Transport {
  readonly #connection: Writable;

  /** @param connection TCP socket, or response */
  constructor(connection: Writable) {
    this.#connection = connection;
  }

  /** Buffer what is sent until `uncork` sends it in one write. */
  cork(): void {
    this.#connection.cork();
  }

  uncork(): void {
    this.#connection.uncork();
  }

  /** Call back once the client has read what was sent. */
  onceDrained(then: () => void): void {
    this.#connection.once('drain', then);
  }

  /** Bytes that the client has not read yet. */
  abstract get waitingBytes(): number;
  abstract send(frame: Buffer): void;
  /**
   * Send a keepalive to the client and the proxies in between, if one is due.
   *
   * @param now time by `performance.now()`
   * @param pingMs maximum time between two pings, milliseconds
   * @returns false if the client no longer responds
   */
  abstract keepAlive(now: number, pingMs: number): boolean;
  /** End the stream after everything that was sent. */
  abstract close(code: number, reason: string): void;
  /** Terminate the connection immediately. */
  abstract cutOff(): void;
  /** Call back once the connection has closed, with the close code; 1006 if there was no close frame. */
  abstract onceClosed(then: (code: number) => void): void;
}
