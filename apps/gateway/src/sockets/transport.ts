import type { Writable } from 'node:stream';

/** The connection below a stream: a WebSocket, or the response of an event stream. */
export abstract class Transport {
  readonly #connection: Writable;

  /** @param connection the TCP socket, or the response */
  constructor(connection: Writable) {
    this.#connection = connection;
  }

  /** Collect what is sent, until `uncork` sends it as one write. */
  cork(): void {
    this.#connection.cork();
  }

  uncork(): void {
    this.#connection.uncork();
  }

  /** Call back once the client has taken what was sent. */
  onceDrained(then: () => void): void {
    this.#connection.once('drain', then);
  }

  /** Bytes that the client has not taken yet. */
  abstract get waitingBytes(): number;
  abstract send(frame: Buffer): void;
  /**
   * Show the client and the proxies that the stream is alive, if it is time for that.
   *
   * @param now by `performance.now()`
   * @param pingMs longest time between two pings
   * @returns false when the client no longer responds
   */
  abstract keepAlive(now: number, pingMs: number): boolean;
  /** End the stream, after all that was sent. */
  abstract close(code: number, reason: string): void;
  /** End the connection at once. */
  abstract cutOff(): void;
  /** Call back once, when the connection has ended, with the code of the close. Without a close frame it is 1006. */
  abstract onceClosed(then: (code: number) => void): void;
}
