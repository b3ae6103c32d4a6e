import { CLOSE_CODES, YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { KEY_BELIEVED_MS, type KeyRing } from '@yardmaster/store';
import { PING_MS, type Session } from './session.js';

/** How often sockets are looked after. */
const TICK_MS = 1_000;

/** What the revocation of a key may cost whose announcement is lost; half a second of it is for asking and closing. */
const UNHEARD_MS = 5_000 - 500;

/** How often the keys of open streams are asked for; some were let in when their key had been revoked already. */
const RECHECK_MS = UNHEARD_MS - KEY_BELIEVED_MS;

/** Bytes that may wait for all clients together before the slowest are given up. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024;

export interface SessionsOptions {
  keyRing: KeyRing;
  log: Logger;
  /** Milliseconds between two pings of a socket. Default 25 000. */
  pingMs?: number | undefined;
}

/** Every open stream of this process, looked after: pings, keys that are no longer valid, the end of the process. */
export class Sessions {
  readonly #all = new Set<Session>();
  readonly #keyRing: KeyRing;
  readonly #log: Logger;
  readonly #pingMs: number;
  readonly #unlisten: () => void;
  readonly #timers: NodeJS.Timeout[];
  #isRechecking = false;
  #onEmpty: (() => void) | null = null;

  constructor({ keyRing, log, pingMs = PING_MS }: SessionsOptions) {
    this.#keyRing = keyRing;
    this.#log = log;
    this.#pingMs = pingMs;
    this.#unlisten = keyRing.onRevoked((keyId) => this.#closeOf(keyId));
    this.#timers = [
      setInterval(() => this.#tick(), Math.min(TICK_MS, pingMs)).unref(),
      setInterval(() => void this.#recheckKeys(), RECHECK_MS).unref(),
    ];
  }

  /** Every stream that is not gone yet. */
  get open(): Iterable<Session> {
    return this.#all;
  }

  add(session: Session): void {
    this.#all.add(session);
  }

  /** Forget a session whose socket is gone. */
  remove(session: Session): void {
    this.#all.delete(session);
    if (this.#all.size === 0) this.#onEmpty?.();
  }

  /**
   * Close every stream with 1001.
   *
   * @param withinMs after which those who do not answer are cut off
   */
  async closeAll(withinMs: number): Promise<void> {
    this.#unlisten();
    for (const timer of this.#timers) clearInterval(timer);
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
    if (waiting > MAX_WAITING_BYTES) this.#giveUpSlowest(waiting);
  }

  /** One slow client is bounded by itself; thousands of them are bounded here. */
  #giveUpSlowest(waiting: number): void {
    const slowest = [...this.#all].sort((a, b) => b.waitingBytes - a.waitingBytes);
    for (let left = waiting; left > MAX_WAITING_BYTES; ) {
      const session = slowest.shift() as Session;
      left -= session.waitingBytes;
      session.close(CLOSE_CODES.tooSlow);
    }
  }

  /** Keys expire, and an announcement may be lost. */
  async #recheckKeys(): Promise<void> {
    if (this.#isRechecking) return;
    this.#isRechecking = true;
    const keyIds = new Set<string>();
    for (const { keyId } of this.#all) if (keyId !== null) keyIds.add(keyId);
    try {
      for (const keyId of await this.#keyRing.invalidOf(keyIds)) this.#closeOf(keyId);
    } catch (err) {
      // Not known just now: whoever was let in stays until it is.
      if (!(err instanceof YardmasterError)) this.#log.error({ err }, 'keys of streams not checked');
    } finally {
      this.#isRechecking = false;
    }
  }

  #closeOf(keyId: string): void {
    for (const session of this.#all) if (session.keyId === keyId) session.close(CLOSE_CODES.keyRevoked);
  }
}
