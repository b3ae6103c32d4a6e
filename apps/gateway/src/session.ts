import type { Duplex } from 'node:stream';
import { CLOSE_CODES, type Status } from '@yardmaster/protocol';
import type { WebSocket } from 'ws';
import { type Audience, type FramedNews, frameOf } from './message.js';
import { Outbox } from './outbox.js';
import type { StreamMetrics } from './stream-metrics.js';

/** How long a client may take to close after the end of its job, and to answer a close. */
const GRACE_MS = 5_000;

/**
 * Longest time between the end of a job and the close of a stream that must not show how the job ended. After a constant
 * time, the close itself would show when the job failed or was killed.
 */
const HIDDEN_END_MS = 60_000;

/** Longest interval between two signs that a socket is in use: proxies cut idle ones after 60 s. */
export const PING_MS = 25_000;

/** Pings that go unanswered before a socket is given up. */
const MISSED_PONGS = 2;

/** Text of a close frame beside its code; none for the end, which must not say how the job ended. */
const REASONS: Record<number, string> = {
  [CLOSE_CODES.goingAway]: 'server is stopping',
  [CLOSE_CODES.keyRevoked]: 'API key is no longer valid',
  [CLOSE_CODES.interrupted]: 'messages may be missing',
  [CLOSE_CODES.tooSlow]: 'client reads too slowly',
};

export interface SessionOptions {
  audience: Audience;
  /** Id of the API key; null for an anonymous stream. */
  keyId: string | null;
  /** Called once when its socket is gone. */
  onGone: (session: Session) => void;
  metrics: StreamMetrics;
  /** A number from 0 up to 1, for a close at a random time. Default `Math.random`. */
  random?: (() => number) | undefined;
}

/** Codes with which ws closes for what a client sent; anything else is no WebSocket any more. */
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
 *   open ──end()──▶ ended: the client has 5 s to close, or a random 5 to 60 s when it is not told of the end; then we close
 *     │                    with 1000
 *     └──close()──▶ closing: nothing more is sent; cut off after 5 s ──▶ gone
 */
export class Session {
  readonly audience: Audience;
  readonly keyId: string | null;
  /** Seq of the last event that the client knows, by its init or by a message; of a job stream. */
  seq = 0;
  /** When that event came, or the moment of the init: no event up to `seq` is later. Epoch milliseconds, Redis' clock. */
  at = 0;
  /** Seq of the newest log entry that the client knows of, likewise. */
  logSeq = 0;
  /** Status of the job as the client knows it, likewise. */
  status: Status = 'pending';
  readonly #ws: WebSocket;
  readonly #outbox: Outbox;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;
  /** Code that we closed with; null while we have not. */
  #closeCode: number | null = null;
  #pingedAt = performance.now();
  #missedPongs = 0;

  constructor(
    ws: WebSocket,
    socket: Duplex,
    { audience, keyId, onGone, metrics, random = Math.random }: SessionOptions,
  ) {
    this.audience = audience;
    this.keyId = keyId;
    this.#ws = ws;
    this.random = random;
    this.#outbox = new Outbox(ws, socket, { onTooSlow: () => this.close(CLOSE_CODES.tooSlow), metrics });
    ws.on('pong', () => {
      this.#missedPongs = 0;
    });
    // A frame that is none, or over 1 KB, or a broken socket; `close` follows.
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
    return this.#outbox.waitingBytes;
  }

  /** Whether nothing more is sent to it. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Send the first message. */
  init(id: string, message: object): void {
    this.#outbox.send(id, frameOf(message), { isProgress: false });
  }

  /** Send an event, as far as it is for this client; after the last one of a job, end. */
  deliver(framed: FramedNews): void {
    if (this.#isClosing) return;
    const frame = framed.frameFor(this.audience);
    if (frame !== null) this.#outbox.send(framed.news.jobId, frame, framed);
  }

  /**
   * The job has ended, which a progress-scope client may not know: give the client time to close by itself.
   *
   * @param part of the time after which a client may be closed that does not know, from 0 up to 1
   */
  end(part = this.random()): void {
    if (this.#isClosing || this.#timer) return;
    const isHidden = this.audience === 'progress' && this.status !== 'completed';
    const moreMs = isHidden ? part * (HIDDEN_END_MS - GRACE_MS) : 0;
    this.#timer = setTimeout(() => this.close(CLOSE_CODES.ended), GRACE_MS + moreMs);
  }

  /** Close with a code, and cut off a client that does not answer. What was sent before still goes out. */
  close(code: number): void {
    if (this.#isClosing) return;
    this.#beginClosing();
    this.#closeCode = code;
    if (this.#timer) clearTimeout(this.#timer);
    this.#ws.close(code, REASONS[code] ?? '');
    this.#timer = setTimeout(() => this.cutOff(), GRACE_MS);
  }

  /** End the connection without another word. */
  cutOff(): void {
    this.#ws.terminate();
  }

  /** Ping when it is time to; give up a client that has not answered for long. */
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
    this.#outbox.drop();
  }
}
