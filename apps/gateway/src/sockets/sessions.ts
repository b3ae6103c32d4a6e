import { CLOSE_CODES, YardmasterError } from '@yardmaster/protocol';
import { compose, every, type Logger, type Service } from '@yardmaster/runtime';
import { type Authenticator, KEY_CACHE_MS } from '@yardmaster/store';
import { PING_MS, type Session } from './session.js';

/** Time between two checks of the pings and unread bytes of all sockets, milliseconds. */
const TICK_MS = 1_000;

/**
 * How long a stream may stay open after its key was revoked if the announcement is lost, milliseconds: 5 s, minus half a
 * second for the call to Redis and the close.
 */
const UNANNOUNCED_MS = 5_000 - 500;

/**
 * Time between two checks of the keys of open streams. A stream may have been opened with a cached key that was already
 * revoked, so the lifetime of the cache is subtracted.
 */
const RECHECK_MS = UNANNOUNCED_MS - KEY_CACHE_MS;

/** Unread bytes of all clients together beyond which the slowest clients are closed. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024;

export interface SessionsOptions {
  authenticator: Authenticator;
  log: Logger;
  /** Time between two pings of a socket, milliseconds. Default 25,000. */
  pingMs?: number | undefined;
}

/** All open streams of this process. Pings them, and closes them at shutdown or once their key or secret is invalid. */
export class Sessions implements Service {
  readonly name = 'sessions';
  readonly #all = new Set<Session>();
  readonly #authenticator: Authenticator;
  readonly #log: Logger;
  readonly #pingMs: number;
  #stopListening: () => void = () => undefined;
  readonly #repeated: Service;
  #onEmpty: (() => void) | null = null;

  constructor({ authenticator, log, pingMs = PING_MS }: SessionsOptions) {
    this.#authenticator = authenticator;
    this.#log = log;
    this.#pingMs = pingMs;
    const pings = every({ name: 'pings', ms: Math.min(TICK_MS, pingMs), run: () => this.#tick() });
    this.#repeated = compose('checks', [
      [pings, every({ name: 'key checks', ms: RECHECK_MS, run: () => this.#recheckKeys() })],
    ]);
  }

  /** Every session whose socket has not closed yet. */
  get open(): Iterable<Session> {
    return this.#all;
  }

  add(session: Session): void {
    this.#all.add(session);
  }

  remove(session: Session): void {
    this.#all.delete(session);
    if (this.#all.size === 0) this.#onEmpty?.();
  }

  async start(): Promise<void> {
    this.#stopListening = this.#authenticator.onEnded((keyId, oldest) => this.#closeStreamsOf(keyId, oldest));
    await this.#repeated.start();
  }

  /** Close every stream with 1001. */
  async stop(withinMs: number): Promise<void> {
    this.#stopListening();
    await this.#repeated.stop(withinMs);
    if (this.#all.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const session of this.#all) session.close(CLOSE_CODES.goingAway);
    const limit = setTimeout(() => {
      for (const session of this.#all) session.cutOff();
    }, withinMs);
    await empty;
    clearTimeout(limit);
  }

  #tick(): void {
    const now = performance.now();
    let waiting = 0;
    for (const session of this.#all) {
      session.keepAlive(now, this.#pingMs);
      waiting += session.waitingBytes;
    }
    if (waiting > MAX_WAITING_BYTES) this.#closeSlowest(waiting);
  }

  /** Close the streams of the slowest clients. A send buffer limits a single slow client; this limits thousands of them. */
  #closeSlowest(waiting: number): void {
    const slowest = [...this.#all].sort((a, b) => b.waitingBytes - a.waitingBytes);
    for (let left = waiting; left > MAX_WAITING_BYTES; ) {
      const session = slowest.shift() as Session;
      left -= session.waitingBytes;
      session.close(CLOSE_CODES.tooSlow);
    }
  }

  /**
   * Close the streams of keys and secrets that are no longer valid: keys expire, rotation overlaps end, and announcements may
   * be lost.
   */
  async #recheckKeys(): Promise<void> {
    const keyIds = new Set<string>();
    for (const { keyId } of this.#all) if (keyId !== null) keyIds.add(keyId);
    try {
      const oldest = await this.#authenticator.oldestSecretsOf(keyIds);
      for (const session of this.#all) session.closeUnless(oldest);
    } catch (err) {
      // Open streams stay open until Redis responds again.
      if (!(err instanceof YardmasterError)) this.#log.error({ err }, 'API keys of streams not checked');
    }
  }

  #closeStreamsOf(keyId: string, oldestSecret: number): void {
    const oldest = new Map([[keyId, oldestSecret]]);
    for (const session of this.#all) session.closeUnless(oldest);
  }
}
