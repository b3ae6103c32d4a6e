/** The connection below a stream: a WebSocket, or the response of an event stream. */
export interface Transport {
  /** Bytes that the client has not taken yet. */
  readonly waitingBytes: number;
  send(frame: Buffer): void;
  /** Collect what is sent, until `uncork` sends it as one write. */
  cork(): void;
  uncork(): void;
  /** Call back once the client has taken what was sent. */
  onceDrained(then: () => void): void;
  /**
   * Show the client and the proxies that the stream is alive, if it is time for that.
   *
   * @param now by `performance.now()`
   * @param pingMs longest time between two pings
   * @returns false when the client no longer responds
   */
  keepAlive(now: number, pingMs: number): boolean;
  /** End the stream, after all that was sent. */
  close(code: number, reason: string): void;
  /** End the connection at once. */
  cutOff(): void;
  /** Call back once, when the connection has ended, with the code of the close. Without a close frame it is 1006. */
  onceClosed(then: (code: number) => void): void;
}
