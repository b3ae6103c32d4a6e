import { YardmasterError } from '@yardmaster/protocol';
import type { Logger, Service } from '@yardmaster/runtime';
import { within } from '@yardmaster/server';
import type { PendingCallback } from '@yardmaster/store';
import type { AttemptResult } from './attempt.js';
import { HostLimiter } from './host-limiter.js';

/** Pending callbacks in one process at once, waiting or being sent: some 10 MB. */
const CAPACITY = 10_000;

/**
 * Callbacks being sent at once. Each has its own connection and its body, which is up to 256 KB unless the operator
 * allows more.
 */
const AT_ONCE = 512;

/** A pending callback, and the host and port to which it goes. */
export interface HostCallback extends PendingCallback {
  host: string;
}

export interface DispatcherOptions {
  attempt: (callback: PendingCallback) => Promise<AttemptResult>;
  /** Have a callback dispatched again after a delay, by this scheduler or another. */
  postpone: (callback: HostCallback, delayMs: number) => Promise<void>;
  /** Callbacks sent to one host at once. */
  perHost: number;
  log: Logger;
}

/**
 * Dispatcher of pending callbacks: they wait here until their host has a free slot. Outside this process, a waiting
 * callback is stored only in Redis' `callbacks`. If this process ends, the relay of another finds it there.
 */
export class CallbackDispatcher implements Service {
  readonly name = 'callback dispatcher';
  readonly #options: DispatcherOptions;
  readonly #hosts: HostLimiter;
  /** Work on the callbacks in this process, by id, because the same one may be dispatched twice. */
  readonly #pending = new Map<string, Promise<void>>();
  #isStopping = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#hosts = new HostLimiter({ perHost: options.perHost, atOnce: AT_ONCE, capacity: CAPACITY });
  }

  async start(): Promise<void> {
    // It works when callbacks are dispatched.
  }

  /** Whether no callback of any host is accepted now. */
  isFull(): boolean {
    return this.#isStopping || this.#hosts.isFull();
  }

  /** Handle a pending callback up to the outcome of one attempt. Without room it is dropped, and relayed again later. */
  dispatch(callback: HostCallback): void {
    const id = `${callback.jobId} ${callback.series}`;
    if (this.#isStopping || this.#pending.has(id) || !this.#hosts.hasRoom(callback.host)) return;
    this.#pending.set(
      id,
      this.#handle(callback).finally(() => this.#pending.delete(id)),
    );
  }

  /** Finish the callbacks that are being sent, and return the waiting ones with `postpone`. */
  async stop(withinMs: number): Promise<void> {
    this.#isStopping = true;
    await within(withinMs, Promise.all(this.#pending.values()));
  }

  async #handle(callback: HostCallback): Promise<void> {
    const { attempt, postpone, log } = this.#options;
    const { jobId, host } = callback;
    try {
      const { againMs, outcome } = await this.#hosts.run(host, async () =>
        this.#isStopping ? { againMs: 0, outcome: null } : attempt(callback),
      );
      if (outcome !== null) log.debug({ jobId, host, type: outcome.type, againMs }, 'callback attempted');
      if (againMs !== null) await postpone(callback, againMs);
    } catch (err) {
      // The callback is still pending in Redis, so the relay reads it again. An outage is logged elsewhere.
      log[err instanceof YardmasterError ? 'debug' : 'warn']({ jobId, err }, 'callback left to the relay');
    }
  }
}
