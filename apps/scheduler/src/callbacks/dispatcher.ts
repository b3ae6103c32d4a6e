import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { callbackUrlOf, type PendingCallback, type Store } from '@yardmaster/store';
import type { AttemptResult } from './attempt.js';
import { HostFairQueue } from './fair-queue.js';

/** Pending callbacks in one process at once, waiting or being sent: some 10 MB. */
const CAPACITY = 10_000;

/**
 * Callbacks being sent at once. Each has its own connection and its body, which is up to 256 KB unless the operator
 * allows more.
 */
const IN_ALL = 512;

export interface DispatcherOptions {
  store: Store;
  attempt: (callback: PendingCallback) => Promise<AttemptResult>;
  /** Have these callbacks dispatched again after a delay. */
  postpone: (callbacks: readonly PendingCallback[], delayMs: number) => Promise<void>;
  /** Callbacks sent to one host at once. */
  perHost: number;
  log: Logger;
}

/**
 * Dispatcher of pending callbacks, in which they wait for their turn. Outside this process, a waiting callback is stored
 * only in Redis' `callbacks`. If this process ends, the relay finds it there.
 */
export class CallbackDispatcher {
  readonly #options: DispatcherOptions;
  readonly #lines: HostFairQueue;
  /** Callbacks in this process by id, because the same one may be dispatched twice. */
  readonly #held = new Map<string, Promise<void>>();
  #isClosing = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#lines = new HostFairQueue({ perHost: options.perHost, inAll: IN_ALL, capacity: CAPACITY });
  }

  /**
   * Look up the host of a pending callback.
   *
   * @returns null when there is nothing to send: the job is gone, and its callback with it
   * @throws UNAVAILABLE
   */
  async hostOf({ jobId }: PendingCallback): Promise<string | null> {
    const url = await callbackUrlOf(this.#options.store, jobId);
    return url === null ? null : new URL(url).host;
  }

  /** Whether one more callback of this host can be accepted. */
  hasRoom(host: string): boolean {
    return !this.#isClosing && this.#lines.hasRoom(host);
  }

  /** Accept a pending callback and handle it up to the outcome of one attempt. */
  dispatch(callback: PendingCallback, host: string): void {
    const id = `${callback.jobId} ${callback.series}`;
    if (this.#held.has(id)) return;
    this.#held.set(
      id,
      this.#serve(callback, host).finally(() => this.#held.delete(id)),
    );
  }

  /** Finish the callbacks that are being sent, and return the waiting ones with `postpone`. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#held.values());
  }

  async #serve(callback: PendingCallback, host: string): Promise<void> {
    const { attempt: deliver, postpone: comeBack, log } = this.#options;
    const { jobId } = callback;
    try {
      const { againMs, outcome } = await this.#lines.run(host, async () =>
        this.#isClosing ? { againMs: 0, outcome: null } : deliver(callback),
      );
      if (outcome !== null) log.debug({ jobId, host, type: outcome.type, againMs }, 'callback attempted');
      if (againMs !== null) await comeBack([callback], againMs);
    } catch (err) {
      // The callback is still pending in Redis, so the relay looks at it again. An outage is logged elsewhere.
      log[err instanceof YardmasterError ? 'debug' : 'warn']({ jobId, err }, 'callback left to the relay');
    }
  }
}
