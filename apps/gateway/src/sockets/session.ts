import type { Duplex } from 'node:stream';
import { CLOSE_CODES, type InitMessage, type TerminalStatus } from '@yardmaster/protocol';
import type { WebSocket } from 'ws';
import type { Filter } from '../admission/space-filter.js';
import { type ConnectedMessage, frameOf, type OutgoingMessage, type Visibility } from '../messages.js';
import type { StreamMetrics } from '../metrics.js';
import { SendBuffer } from './send-buffer.js';

/** How long a client may take to close after the end of its job, and to respond to a close frame. */
const GRACE_MS = 5_000;

/**
 * Longest time between the end of a job and the close of a stream that must not show how the job ended. The time is
 * random, because a close after a constant time would show when the job failed or was killed.
 */
const HIDDEN_END_MS = 60_000;

/** Longest time between two pings of a socket, because proxies cut sockets that are idle for 60 s. */
export const PING_MS = 25_000;

/** Pings without a response before a socket is cut off. */
const MISSED_PONGS = 2;

/** Text of a close frame for each code. The end of a job has none, because the close must not show how it ended. */
const REASONS: Record<number, string> = {
  [CLOSE_CODES.goingAway]: 'server is stopping',
  [CLOSE_CODES.keyRevoked]: 'API key is no longer valid',
  [CLOSE_CODES.interrupted]: 'messages may be missing',
  [CLOSE_CODES.tooSlow]: 'client reads too slowly',
};

export interface SessionOptions {
  visibility: Visibility;
  /** Id of the API key; null for an anonymous stream. */
  keyId: string | null;
  /** After how many rotations of the key the secret was made with which the stream was opened. Default 0. */
  rotation?: number;
  /** Which events the client has asked for; null for all. */
  filter: Filter | null;
  /** Called once when the socket of the session has closed. */
  onClosed: (session: Session) => void;
  metrics: StreamMetrics;
  /** Source of numbers from 0 up to 1, for a close at a random time. Default `Math.random`. */
  random?: (() => number) | undefined;
}

/** Close codes of ws for invalid messages, by error code. Every other error of ws is a protocol error. */
const ERROR_CLOSE_CODES: Record<string, number> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: CLOSE_CODES.tooBig,
  WS_ERR_INVALID_UTF8: 1007,
};
const PROTOCOL_ERROR = 1002;

function closeCodeOf({ code = '' }: NodeJS.ErrnoException): number | null {
  return ERROR_CLOSE_CODES[code] ?? (code.startsWith('WS_ERR_') ? PROTOCOL_ERROR : null);
}

/**
 * One open stream: a client, and what it may see. It sends messages and closes; channels decide what is sent.
 *
 *   open ──end()──▶ ended: the client has 5 s to close, or a random time of 5 to 60 s when the end is hidden from it.
 *     │                    Then the gateway closes with 1000
 *     └──close()──▶ closing: nothing more is sent; cut off after 5 s ──▶ closed
 */
export class Session {
  readonly visibility: Visibility;
  readonly keyId: string | null;
  readonly #rotation: number;
  readonly #filter: Filter | null;
  readonly #ws: WebSocket;
  readonly #sendBuffer: SendBuffer;
  /** Source of numbers from 0 up to 1. */
  readonly random: () => number;
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;
  /** Code with which the gateway has closed the stream; null until then. */
  #closeCode: number | null = null;
  #pingedAt = performance.now();
  #missedPongs = 0;

  constructor(
    ws: WebSocket,
    socket: Duplex,
    { visibility, keyId, rotation = 0, filter, onClosed, metrics, random = Math.random }: SessionOptions,
  ) {
    this.visibility = visibility;
    this.keyId = keyId;
    this.#rotation = rotation;
    this.#filter = filter;
    this.#ws = ws;
    this.random = random;
    this.#sendBuffer = new SendBuffer(ws, socket, { onTooSlow: () => this.close(CLOSE_CODES.tooSlow), metrics });
    ws.on('pong', () => {
      this.#missedPongs = 0;
    });
    // The frame is invalid or over 1 KB, or the connection broke; `close` follows.
    ws.on('error', (error) => {
      this.#closeCode ??= closeCodeOf(error);
    });
    ws.on('close', (code) => {
      metrics.closed(this.#closeCode ?? code);
      this.#beginClosing();
      if (this.#timer) clearTimeout(this.#timer);
      onClosed(this);
    });
  }

  /** Bytes that the client has not taken yet. */
  get waitingBytes(): number {
    return this.#sendBuffer.waitingBytes;
  }

  /** Whether the stream sends nothing more. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Send a message that begins the stream. */
  begin(id: string, message: InitMessage | ConnectedMessage): void {
    this.#sendBuffer.send(id, frameOf(message), { isProgress: false });
  }

  /** Send an event if this client may see it and has asked for it. On a job stream, the caller must call `end` after the last event. */
  send(encoded: OutgoingMessage): void {
    if (this.#isClosing || this.#filter?.(encoded.event) === false) return;
    const frame = encoded.encodedFor(this.visibility);
    if (frame !== null) this.#sendBuffer.send(encoded.event.jobId, frame, encoded);
  }

  /** Close the stream if its key has ended, or the secret with which it was opened. @param oldest secrets that are accepted */
  closeUnless(oldest: ReadonlyMap<string, number>): void {
    if (this.keyId !== null && this.#rotation < (oldest.get(this.keyId) ?? 0)) this.close(CLOSE_CODES.keyRevoked);
  }

  /**
   * Close the stream some time after the end of its job, so that the client can close by itself before.
   *
   * The time is random for a progress-scope client, which must not know that its job is dead or killed.
   *
   * @param status how the job ended
   * @param fraction of the random time, from 0 up to 1
   */
  end(status: TerminalStatus, fraction = this.random()): void {
    if (this.#isClosing || this.#timer) return;
    const isHidden = this.visibility === 'progress' && status !== 'completed';
    const moreMs = isHidden ? fraction * (HIDDEN_END_MS - GRACE_MS) : 0;
    this.#timer = setTimeout(() => this.close(CLOSE_CODES.ended), GRACE_MS + moreMs);
  }

  /** Close with a code, and cut off a client that does not respond. Frames that were sent before still reach it. */
  close(code: number): void {
    if (this.#isClosing) return;
    this.#beginClosing();
    this.#closeCode = code;
    if (this.#timer) clearTimeout(this.#timer);
    this.#ws.close(code, REASONS[code] ?? '');
    this.#timer = setTimeout(() => this.cutOff(), GRACE_MS);
  }

  /** End the connection without a close frame. */
  cutOff(): void {
    this.#ws.terminate();
  }

  /** Ping the client if the last ping is old enough. Cut off a client that has not responded to two pings. */
  keepAlive(now: number, pingMs: number): void {
    if (this.#isClosing || now - this.#pingedAt < pingMs) return;
    if (this.#missedPongs >= MISSED_PONGS) {
      this.cutOff();
      return;
    }
    this.#pingedAt = now;
    this.#missedPongs++;
    this.#ws.ping();
  }

  #beginClosing(): void {
    this.#isClosing = true;
    this.#sendBuffer.drop();
  }
}
