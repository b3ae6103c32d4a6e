import type { ServerResponse } from 'node:http';
import { CLOSE_CODES } from '@yardmaster/protocol';
import { Transport } from './transport.js';

/** Longest time between two comments, because proxies cut responses that are silent for 30 s and more. */
const COMMENT_MS = 15_000;

/** How soon a browser connects again, milliseconds, and an empty line, so that the head is followed by bytes at once. */
const RETRY = 'retry: 1000\n\n';
const COMMENT = ':\n\n';
/** What a client is told at the end, by close code: to get another token, or that no message will follow. */
const LAST_EVENTS = new Map<number, string>([
  [CLOSE_CODES.tokenExpired, 'event: expired\ndata: {}\n\n'],
  [CLOSE_CODES.ended, 'event: ended\ndata: {}\n\n'],
]);

/** Code of a close without a close frame, which an event stream has not. */
const NO_CODE = 1006;

/** A stream as a response of the type `text/event-stream`, for the `EventSource` of browsers. */
export class EventStreamTransport extends Transport {
  readonly #res: ServerResponse;
  #wroteAt = performance.now();

  /** @param res a response whose head is written */
  constructor(res: ServerResponse) {
    super(res);
    this.#res = res;
    res.write(RETRY);
  }

  get waitingBytes(): number {
    return this.#res.writableLength;
  }

  send(frame: Buffer): void {
    this.#res.write(frame);
  }

  keepAlive(now: number, pingMs: number): boolean {
    if (now - this.#wroteAt < Math.min(pingMs, COMMENT_MS)) return true;
    this.#wroteAt = now;
    this.#res.write(COMMENT);
    return true;
  }

  close(code: number): void {
    this.#res.end(LAST_EVENTS.get(code));
  }

  cutOff(): void {
    this.#res.destroy();
  }

  onceClosed(then: (code: number) => void): void {
    this.#res.once('close', () => then(NO_CODE));
  }
}
