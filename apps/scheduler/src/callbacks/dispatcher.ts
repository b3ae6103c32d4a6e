import { YardmasterError } from '@yardmaster/protocol';
import type { Logger, Service } from '@yardmaster/runtime';
import { rejectAfter } from '@yardmaster/server';
import type { PendingCallback } from '@yardmaster/store';
import { DelayedError, type Job, type Queue, type Worker } from 'bullmq';
import type { BullMq } from '../bullmq.js';
import type { AttemptResult } from './attempt.js';
import { HostLimiter } from './host-limiter.js';

const QUEUE = 'callbacks';

/** Maximum pending callbacks in a process, waiting or being sent: about 10 MB. */
const CAPACITY = 10_000;

/** Maximum callbacks being sent at once. Each has its own connection and a body, of up to 256 KB by default. */
const AT_ONCE = 512;

/** A pending callback, and the host and port to send it to. */
export interface HostCallback extends PendingCallback {
  host: string;
}

/** Return the ID of a callback until its series ends. BullMQ uses it as well, so that it has at most one retry there. */
const idOf = ({ jobId, series }: HostCallback) => `${jobId}-${series}`;

export interface DispatcherOptions {
  bullMq: BullMq;
  /** Makes the next attempt at a callback if it is due. */
  attempt: (callback: PendingCallback) => Promise<AttemptResult>;
  /** Maximum callbacks sent to one host at once. */
  perHost: number;
  log: Logger;
}

/**
 * Dispatches pending callbacks, which wait here until their host has a free slot. The relay hands over callbacks for their
 * first attempt. A retry is a delayed job in BullMQ: its processor makes the attempt and moves the job to the time of the
 * next one.
 *
 * Pending callbacks are recorded in the Redis key `callbacks`. So both this process and BullMQ's keys may be lost: the relay
 * finds a callback there 4 seconds after it was due.
 */
export class CallbackDispatcher implements Service {
  readonly name = 'callback dispatcher';
  readonly #options: DispatcherOptions;
  readonly #hosts: HostLimiter;
  readonly #retries: Queue<HostCallback>;
  #worker: Worker<HostCallback> | undefined;
  /** Attempts waiting or being made in this process, by ID, because the same callback may arrive twice. */
  readonly #pending = new Map<string, Promise<number | null>>();
  readonly #dispatched = new Set<Promise<void>>();
  #isStopping = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#hosts = new HostLimiter({ perHost: options.perHost, atOnce: AT_ONCE, capacity: CAPACITY });
    this.#retries = options.bullMq.queue(QUEUE);
  }

  async start(): Promise<void> {
    const retry = (job: Job<HostCallback>, token?: string) => this.#retry(job, token);
    this.#worker = this.#options.bullMq.worker(QUEUE, retry, { concurrency: AT_ONCE });
  }

  /** Finish callbacks that are being sent, and leave waiting ones to other schedulers. */
  async stop(withinMs: number): Promise<void> {
    this.#isStopping = true;
    await rejectAfter(withinMs, Promise.all([this.#worker?.close(), ...this.#dispatched]));
  }

  /** Return whether there is no room for a callback to any host. */
  isFull(): boolean {
    return this.#isStopping || this.#hosts.isFull();
  }

  /** Make one attempt at a pending callback. Without room it is dropped, and relayed again later. */
  dispatch(callback: HostCallback): void {
    if (this.#isStopping || this.#pending.has(idOf(callback))) return;
    const dispatched = this.#dispatch(callback).finally(() => this.#dispatched.delete(dispatched));
    this.#dispatched.add(dispatched);
  }

  async #dispatch(callback: HostCallback): Promise<void> {
    const delay = await this.#attempt(callback);
    if (delay === null) return;
    try {
      await this.#retries.add(QUEUE, callback, { jobId: idOf(callback), delay });
    } catch (err) {
      this.#leave(callback, err);
    }
  }

  /** Make a retry, and move its job to the time of the next one. */
  async #retry(job: Job<HostCallback>, token: string | undefined): Promise<void> {
    const { data } = job;
    // Callbacks wait for their host here, because a host that hangs must not use up BullMQ's slots.
    if (!this.#hosts.hasSlot(data.host)) return this.dispatch(data);
    const againMs = this.#pending.has(idOf(data)) ? null : await this.#attempt(data);
    if (againMs === null) return;
    await job.moveToDelayed(Date.now() + againMs, token);
    throw new DelayedError();
  }

  /** Make an attempt once the host has a slot. @returns milliseconds until the next one; null if this process makes none */
  #attempt(callback: HostCallback): Promise<number | null> {
    if (!this.#hosts.hasRoom(callback.host)) return Promise.resolve(null);
    const id = idOf(callback);
    const attempted = this.#hosts
      .run(callback.host, () => this.#attemptNow(callback))
      .catch((err) => this.#leave(callback, err))
      .finally(() => this.#pending.delete(id));
    this.#pending.set(id, attempted);
    return attempted;
  }

  async #attemptNow(callback: HostCallback): Promise<number | null> {
    if (this.#isStopping) return 0;
    const { againMs, outcome } = await this.#options.attempt(callback);
    const { jobId, host } = callback;
    if (outcome !== null) this.#options.log.debug({ jobId, host, type: outcome.type, againMs }, 'callback attempted');
    return againMs;
  }

  /** Leave a callback to the relay, which finds it in Redis. Outages are logged elsewhere. */
  #leave({ jobId }: HostCallback, err: unknown): null {
    this.#options.log[err instanceof YardmasterError ? 'debug' : 'warn']({ jobId, err }, 'callback left to the relay');
    return null;
  }
}
