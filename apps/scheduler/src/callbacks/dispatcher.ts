import { YardmasterError } from '@yardmaster/protocol';
import type { Logger, Service } from '@yardmaster/runtime';
import { rejectAfter } from '@yardmaster/server';
import type { PendingCallback } from '@yardmaster/store';
import { DelayedError, type Job, type Queue, type Worker } from 'bullmq';
import type { BullMq } from '../bullmq.js';
import type { AttemptResult } from './attempt.js';
import { HostLimiter } from './host-limiter.js';

const QUEUE = 'callbacks';

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

/** Identifies a callback until its series ends, also in BullMQ, so that it has one retry there at most. */
const idOf = ({ jobId, series }: HostCallback) => `${jobId}-${series}`;

export interface DispatcherOptions {
  bullMq: BullMq;
  /** Make the next attempt at a callback if it is due. */
  attempt: (callback: PendingCallback) => Promise<AttemptResult>;
  /** Callbacks sent to one host at once. */
  perHost: number;
  log: Logger;
}

/**
 * Dispatcher of pending callbacks, which wait here until their host has a free slot. The relay passes callbacks on for
 * their first attempt. A retry is a delayed job in BullMQ: its processor makes the attempt, and moves the job on to the
 * next one.
 *
 * The record of a pending callback is in Redis' `callbacks`. So both this process and BullMQ's keys may be lost: the
 * relay finds the callback there 4 s after it was due.
 */
export class CallbackDispatcher implements Service {
  readonly name = 'callback dispatcher';
  readonly #options: DispatcherOptions;
  readonly #hosts: HostLimiter;
  readonly #retries: Queue<HostCallback>;
  #worker: Worker<HostCallback> | undefined;
  /** Attempts that wait or are being made in this process, by id, because the same callback may come twice. */
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

  /** Finish the callbacks that are being sent, and leave the waiting ones to other schedulers. */
  async stop(withinMs: number): Promise<void> {
    this.#isStopping = true;
    await rejectAfter(withinMs, Promise.all([this.#worker?.close(), ...this.#dispatched]));
  }

  /** Whether no callback of any host is accepted now. */
  isFull(): boolean {
    return this.#isStopping || this.#hosts.isFull();
  }

  /** Handle a pending callback up to the outcome of one attempt. Without room it is dropped, and relayed again later. */
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

  /** Make a retry, and move its job on to the next one. */
  async #retry(job: Job<HostCallback>, token: string | undefined): Promise<void> {
    const { data } = job;
    // What must wait for its host waits here, because a host that hangs must not take BullMQ's slots from the others.
    if (!this.#hosts.hasSlot(data.host)) return this.dispatch(data);
    const againMs = this.#pending.has(idOf(data)) ? null : await this.#attempt(data);
    if (againMs === null) return;
    await job.moveToDelayed(Date.now() + againMs, token);
    throw new DelayedError();
  }

  /** Make an attempt once the host has a slot, and return the milliseconds until the next one; null for none from here. */
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

  /** Leave a callback to the relay, which finds it in Redis. An outage is logged elsewhere. */
  #leave({ jobId }: HostCallback, err: unknown): null {
    this.#options.log[err instanceof YardmasterError ? 'debug' : 'warn']({ jobId, err }, 'callback left to the relay');
    return null;
  }
}
