import type { ServerResponse } from 'node:http';
import { CLOSE_CODES } from '@yardmaster/protocol';
import { Transport } from './transport.js';

/** Maximum time between two comments, milliseconds. Proxies cut off responses that are silent for 30 seconds or more. */
const COMMENT_MS = 15_000;

/** Delay before a browser reconnects, milliseconds. Sent right away, so that bytes follow the head immediately. */
const RETRY = 'retry: 1000\n\n';
const COMMENT = ':\n\n';
/** Last event by close code: the token has expired, or no message will follow. */
const LAST_EVENTS = new Map<number, string>([
  [CLOSE_CODES.tokenExpired, 'event: expired\ndata: {}\n\n'],
  [CLOSE_CODES.ended, 'event: ended\ndata: {}\n\n'],
]);

/** Code of a close without a close frame, which event streams never have. */
const NO_CODE = 1006;

/** A stream as a `text/event-stream` response, for a browser's `EventSource`. */
export class EventStreamTransport extends Transport {
  readonly #res: ServerResponse;
  #wroteAt = performance.now();

  /** @param res response whose head has been written */
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
