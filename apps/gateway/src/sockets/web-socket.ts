import type { Duplex } from 'node:stream';
import { CLOSE_CODES } from '@yardmaster/protocol';
import type { WebSocket } from 'ws';
import { Transport } from './transport.js';

/** Unanswered pings after which a socket is cut off. */
const MISSED_PONGS = 2;

const TEXT_FRAME = { binary: false };

/** Close codes for invalid messages, by error code of ws. Every other error of ws is a protocol error. */
const ERROR_CLOSE_CODES: Record<string, number> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: CLOSE_CODES.tooBig,
  WS_ERR_INVALID_UTF8: 1007,
};
const PROTOCOL_ERROR = 1002;

function closeCodeOf({ code = '' }: NodeJS.ErrnoException): number | null {
  return ERROR_CLOSE_CODES[code] ?? (code.startsWith('WS_ERR_') ? PROTOCOL_ERROR : null);
}

export class WebSocketTransport extends Transport {
  readonly #ws: WebSocket;
  /** Close code of an invalid message; null if there was none. */
  #errorCode: number | null = null;
  #pingedAt = performance.now();
  #missedPongs = 0;

  constructor(ws: WebSocket, socket: Duplex) {
    super(socket);
    this.#ws = ws;
    ws.on('pong', () => {
      this.#missedPongs = 0;
    });
    // The frame is invalid or larger than 1 KB, or the connection broke; `close` follows.
    ws.on('error', (error) => {
      this.#errorCode ??= closeCodeOf(error);
    });
  }

  get waitingBytes(): number {
    return this.#ws.bufferedAmount;
  }

  send(frame: Buffer): void {
    this.#ws.send(frame, TEXT_FRAME);
  }

  keepAlive(now: number, pingMs: number): boolean {
    if (now - this.#pingedAt < pingMs) return true;
    if (this.#missedPongs >= MISSED_PONGS) return false;
    this.#pingedAt = now;
    this.#missedPongs++;
    this.#ws.ping();
    return true;
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }

  cutOff(): void {
    this.#ws.terminate();
  }

  onceClosed(then: (code: number) => void): void {
    this.#ws.once('close', (code) => then(this.#errorCode ?? code));
  }
}
