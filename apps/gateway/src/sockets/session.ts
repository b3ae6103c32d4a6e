import { CLOSE_CODES, type CountsMessage, type InitMessage, type TerminalStatus } from '@yardmaster/protocol';
import type { Filter } from '../admission/stream-request.js';
import { type ConnectedMessage, type Form, frameOf, type OutgoingMessage } from '../messages.js';
import type { StreamMetrics } from '../metrics.js';
import { SendBuffer } from './send-buffer.js';
import type { Transport } from './transport.js';

/** How long a client may take to close after its job has ended, and to respond to a close frame, milliseconds. */
const GRACE_MS = 5_000;

/**
 * Maximum time between the end of a job and the close of a stream that must not reveal how the job ended, milliseconds. The
 * actual time is random, because a constant one would reveal when the job failed or was killed.
 */
export const HIDDEN_END_MS = 60_000;

/** Return whether a stream must not reveal how and exactly when its job ended. */
export const isEndHidden = ({ visibility }: Form, status: TerminalStatus) =>
  visibility === 'progress' && status !== 'completed';

/** Time between two pings of a socket, milliseconds. Proxies cut off sockets that are idle for 60 seconds. */
export const PING_MS = 25_000;

/** Reason in the close frame, by code. The end of a job has none, because the close must not reveal how it ended. */
const REASONS: Record<number, string> = {
  [CLOSE_CODES.goingAway]: 'server is shutting down',
  [CLOSE_CODES.keyRevoked]: 'API key is no longer valid',
  [CLOSE_CODES.interrupted]: 'messages may be missing',
  [CLOSE_CODES.tooSlow]: 'client reads too slowly',
  [CLOSE_CODES.tokenExpired]: 'stream token has expired',
};

/**
 * Checks whether the client may still watch its job.
 *
 * @param tags current tags of the job; undefined if they have not changed
 */
export type StillAllowed = (tags?: readonly string[]) => boolean;

export interface SessionOptions {
  form: Form;
  /** ID of the API key; null for an anonymous stream. */
  keyId: string | null;
  /** Tenant whose share of the gateway it uses; see tenantOf. Default: ''. */
  tenant?: string;
  /** Number of rotations of the key before the secret that opened the stream was generated. Default 0. */
  rotation?: number;
  /** Selects the events that the client asked for; null for all. */
  filter: Filter | null;
  /** `performance.now()` at which the token of the stream expires. Default: never. */
  expiresAt?: number;
  /** Called once when the connection of the session has closed. */
  onClosed: (session: Session) => void;
  metrics: StreamMetrics;
  /** Source of random numbers from 0 to 1 (exclusive), for a close at a random time. Default `Math.random`. */
  random?: (() => number) | undefined;
}

/**
 * An open stream: a client, and what it may see. It sends messages and closes; channels decide what to send.
 *
 *   open ──end()──▶ ended: the client has 5 s to close, or a random time of 5 to 60 s if the end is hidden from it.
 *     │                    Then the gateway closes with 1000
 *     └──close()──▶ closing: nothing more is sent; cut off after 5 s ──▶ closed
 */
export class Session {
  readonly form: Form;
  readonly keyId: string | null;
  readonly tenant: string;
  readonly #rotation: number;
  readonly #filter: Filter | null;
  readonly #transport: Transport;
  readonly #sendBuffer: SendBuffer;
  /** Source of random numbers from 0 to 1 (exclusive). */
  readonly random: () => number;
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;
  /** `performance.now()` at which the token of the stream expires; Infinity for an API key. */
  readonly #expiresAt: number;
  /** Code with which the gateway closed the stream; null until then. */
  #closeCode: number | null = null;
  #isStillAllowed: StillAllowed = () => true;

  constructor(
    transport: Transport,
    {
      form,
      keyId,
      tenant = '',
      rotation = 0,
      filter,
      onClosed,
      metrics,
      expiresAt = Number.POSITIVE_INFINITY,
      random = Math.random,
    }: SessionOptions,
  ) {
    this.form = form;
    this.keyId = keyId;
    this.tenant = tenant;
    this.#rotation = rotation;
    this.#filter = filter;
    this.#expiresAt = expiresAt;
    this.#transport = transport;
    this.random = random;
    this.#sendBuffer = new SendBuffer(transport, { onTooSlow: () => this.close(CLOSE_CODES.tooSlow), metrics });
    transport.onceClosed((code) => {
      metrics.closed(this.#closeCode ?? code);
      this.#beginClosing();
      if (this.#timer) clearTimeout(this.#timer);
      onClosed(this);
    });
  }

  /** Bytes that the client has not read yet. */
  get waitingBytes(): number {
    return this.#sendBuffer.waitingBytes;
  }

  /** Whether the stream sends nothing more. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Send a message that starts the stream. @param seq seq of the event after which a job stream continues */
  begin(id: string, message: InitMessage | ConnectedMessage, seq: number | null = null): void {
    this.#sendBuffer.send(id, frameOf(message, this.form, seq), { isProgress: false });
  }

  /** Send the counts of the space. While the client is slow, the latest ones are enough. */
  sendCounts(message: CountsMessage): void {
    if (!this.#isClosing) this.#sendBuffer.send(message.spaceId, frameOf(message, this.form), { isProgress: true });
  }

  /** Send an event if this client may see it and asked for it. On a job stream, call `end` after the last event. */
  send(encoded: OutgoingMessage): void {
    if (this.#isClosing) return;
    // Even if the client didn't ask for this event.
    if (encoded.event.type === 'replaced') this.#check(encoded.event.tags ?? []);
    if (this.#isClosing || this.#filter?.(encoded.event) === false) return;
    const frame = encoded.encodedFor(this.form);
    if (frame !== null) this.#sendBuffer.send(encoded.event.jobId, frame, encoded);
  }

  /** From now on, check periodically, and whenever the job is replaced, that the client may still watch it. */
  stayWhile(isStillAllowed: StillAllowed): void {
    this.#isStillAllowed = isStillAllowed;
  }

  #check(tags?: readonly string[]): void {
    if (!this.#isStillAllowed(tags)) this.close(CLOSE_CODES.keyRevoked, 'this stream is no longer allowed');
  }

  /** Close the stream if its key or secret is no longer valid. @param oldest oldest accepted rotation by key ID */
  closeUnless(oldest: ReadonlyMap<string, number>): void {
    if (this.keyId !== null && this.#rotation < (oldest.get(this.keyId) ?? 0)) this.close(CLOSE_CODES.keyRevoked);
  }

  /**
   * Close the stream some time after the end of its job, so that the client can close it first. An event stream is closed
   * immediately, because its client can't.
   *
   * For a progress-scope client the time is random if the job is dead or killed, which it must not learn.
   *
   * @param status how the job ended
   * @param fraction fraction of the random time, from 0 to 1 (exclusive)
   */
  end(status: TerminalStatus, fraction = this.random()): void {
    if (this.#isClosing || this.#timer) return;
    const isHidden = isEndHidden(this.form, status);
    if (this.form.isEventStream && !isHidden) {
      this.close(CLOSE_CODES.ended);
      return;
    }
    const moreMs = isHidden ? fraction * (HIDDEN_END_MS - GRACE_MS) : 0;
    this.#timer = setTimeout(() => this.close(CLOSE_CODES.ended), GRACE_MS + moreMs);
  }

  /** Stay open after all, because the job was requeued. */
  stayOpen(): void {
    if (this.#isClosing || !this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Close with a code, and cut off a client that does not respond. Frames sent earlier still reach it. */
  close(code: number, reason = REASONS[code] ?? ''): void {
    if (this.#isClosing) return;
    this.#beginClosing();
    this.#closeCode = code;
    if (this.#timer) clearTimeout(this.#timer);
    this.#transport.close(code, reason);
    this.#timer = setTimeout(() => this.cutOff(), GRACE_MS);
  }

  /** Terminate the connection without a close frame. */
  cutOff(): void {
    this.#transport.cutOff();
  }

  /**
   * Send a keepalive if one is due. Close the stream if its token has expired or it is no longer allowed, and cut off a client
   * that no longer responds.
   */
  keepAlive(now: number, pingMs: number): void {
    this.#check();
    if (now >= this.#expiresAt) this.close(CLOSE_CODES.tokenExpired);
    else if (!this.#isClosing && !this.#transport.keepAlive(now, pingMs)) this.cutOff();
  }

  #beginClosing(): void {
    this.#isClosing = true;
    this.#sendBuffer.drop();
  }
}
