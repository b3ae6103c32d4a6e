import type { Duplex } from 'node:stream';
import { CLOSE_CODES, type Status } from '@yardmaster/protocol';
import type { WebSocket } from 'ws';
import { type EncodedEvent, frameOf, type Visibility } from '../messages.js';
import type { StreamMetrics } from '../metrics.js';
import { SendBuffer } from './send-buffer.js';

/** How long a client may take to close after the end of its job, and to respond to a close. */
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

/** Text of a close frame for each code. The end has none, because the close must not show how the job ended. */
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
  /** Called once when the socket of the session is gone. */
  onGone: (session: Session) => void;
  metrics: StreamMetrics;
  /** Source of numbers from 0 up to 1, for a close at a random time. Default `Math.random`. */
  random?: (() => number) | undefined;
}

/** Close codes of ws for invalid messages of a client, by error. Every other error of ws is a protocol error. */
const FAULT_CODES: Record<string, number> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: CLOSE_CODES.tooBig,
  WS_ERR_INVALID_UTF8: 1007,
};
const PROTOCOL_ERROR = 1002;

function codeOfFault({ code = '' }: NodeJS.ErrnoException): number | null {
  return FAULT_CODES[code] ?? (code.startsWith('WS_ERR_') ? PROTOCOL_ERROR : null);
}

/**
 * One open stream: a client, what it may see, and what it has seen.
 *
 *   open ──end()──▶ ended: the client has 5 s to close, or a random 5 to 60 s when the end is hidden from it; then the
 *     │                    gateway closes with 1000
 *     └──close()──▶ closing: nothing more is sent; cut off after 5 s ──▶ gone
 */
export class Session {
  readonly visibility: Visibility;
  readonly keyId: string | null;
  /** Seq of the last event that the client knows from its init or from a message; only for job streams. */
  seq = 0;
  /** Time of the event `seq`, or of the init, in epoch milliseconds of Redis' clock. No event up to `seq` is later. */
  at = 0;
  /** Seq of the newest log entry that the client knows of from its init or from a message. */
  logSeq = 0;
  /** Status of the job as the client knows it from its init or from a message. */
  status: Status = 'pending';
  readonly #ws: WebSocket;
  readonly #sendBuffer: SendBuffer;
  /** Source of numbers from 0 up to 1. */
  readonly random: () => number;
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;
  /** Code with which the gateway has closed the stream; null while it has not. */
  #closeCode: number | null = null;
  #pingedAt = performance.now();
  #missedPongs = 0;

  constructor(
    ws: WebSocket,
    socket: Duplex,
    { visibility, keyId, onGone, metrics, random = Math.random }: SessionOptions,
  ) {
    this.visibility = visibility;
    this.keyId = keyId;
    this.#ws = ws;
    this.random = random;
    this.#sendBuffer = new SendBuffer(ws, socket, { onTooSlow: () => this.close(CLOSE_CODES.tooSlow), metrics });
    ws.on('pong', () => {
      this.#missedPongs = 0;
    });
    // The frame is invalid or over 1 KB, or the socket is broken; `close` follows.
    ws.on('error', (error) => {
      this.#closeCode ??= codeOfFault(error);
    });
    ws.on('close', (code) => {
      metrics.closed(this.#closeCode ?? code);
      this.#beginClosing();
      if (this.#timer) clearTimeout(this.#timer);
      onGone(this);
    });
  }

  /** Bytes that the client has not taken yet. */
  get waitingBytes(): number {
    return this.#sendBuffer.waitingBytes;
  }

  /** Whether nothing more is sent to the client. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Send the first message. */
  init(id: string, message: object): void {
    this.#sendBuffer.send(id, frameOf(message), { isProgress: false });
  }

  /** Send an event if this client may see it. On a job stream, the caller must call `end` after the last event. */
  send(encoded: EncodedEvent): void {
    if (this.#isClosing) return;
    const frame = encoded.encodedFor(this.visibility);
    if (frame !== null) this.#sendBuffer.send(encoded.event.jobId, frame, encoded);
  }

  /**
   * Close the stream some time after the end of its job, so that the client can close by itself before.
   *
   * The time is random for a progress-scope client, which must not know that its job is dead or killed.
   *
   * @param part of the random time, from 0 up to 1
   */
  end(part = this.random()): void {
    if (this.#isClosing || this.#timer) return;
    const isHidden = this.visibility === 'progress' && this.status !== 'completed';
    const moreMs = isHidden ? part * (HIDDEN_END_MS - GRACE_MS) : 0;
    this.#timer = setTimeout(() => this.close(CLOSE_CODES.ended), GRACE_MS + moreMs);
  }

  /** Close with a code, and cut off a client that does not respond. Frames that were sent before still go out. */
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

  /** Ping the client when it is time to. Cut off a client that has not responded to two pings. */
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
