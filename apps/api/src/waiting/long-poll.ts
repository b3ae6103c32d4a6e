import type { ClaimedJob, EventRange, JobWithEvents } from '@yardmaster/protocol';
import { authenticate, cachedPrincipal, presentedKey } from '@yardmaster/server';
import { getJob, type Polled, type Store, settleAndPoll } from '@yardmaster/store';
import type { Call } from '../call.js';
import { withReadSlots } from '../limits/redis-queue.js';
import { onResponseLost } from './connection-close.js';
import type { EndWaiter } from './job-wake-channel.js';
import type { PollWaiter } from './poll-queue.js';
import type { WaitRegistry } from './wait-registry.js';

/** Release of a job whose worker disconnected before it got the job. */
const UNSENT = {
  reason: 'the connection of the worker was closed before the response was sent',
  delaySeconds: null,
};

/** A poll that a call repeats while it waits. */
export interface RepeatedPoll {
  spaceId: string;
  /** Names of jobs to claim; empty for any. */
  names: readonly string[];
  count: number;
  autoAck: boolean;
  poll(store: Store): Promise<Polled>;
}

/** The wait of a single call with `waitSeconds`, after its work is done and its first outcome is known. */
export class LongPoll {
  readonly #call: Call;
  readonly #seconds: number;

  /** @param seconds how long the call may wait; 0 for a poll that only continues, or releases jobs it cannot send */
  constructor(call: Call, seconds: number) {
    this.#call = call;
    this.#seconds = seconds;
  }

  /** Whether the call waits if it has nothing to return. */
  get mayWait(): boolean {
    return this.#seconds > 0;
  }

  /** Whether there is room for the call to wait, or it needs none because the process is shutting down. */
  get hasRoom(): boolean {
    return this.#waits.hasRoomFor(this.#call.tenant) || this.#waits.areOver;
  }

  get #waits(): WaitRegistry {
    return this.#call.deps.waiting.waits;
  }

  /** Run a further part of the call in Redis, if the caller's key is still valid. */
  atRedis<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const { deps, req, tenant } = this.#call;
    return deps.redisQueue.withSlot({
      ...{ isUrgent: false, tenant, withinMs: deps.budgetMs },
      async run(slot) {
        // The key may have been revoked or have expired since the call started to wait.
        const apiKey = presentedKey(req);
        if (cachedPrincipal(deps.authenticator, apiKey) === undefined) await authenticate(deps, apiKey);
        return work(withReadSlots(deps.store, slot));
      },
    });
  }

  /**
   * Return whether a poll may skip its first poll, because this process knows of nothing to find. An idle fleet that polls
   * again after each wait thus makes no calls to Redis.
   */
  needsNoFirstPoll(spaceId: string, names: readonly string[]): boolean {
    const { deps, tenant } = this.#call;
    if (!this.mayWait || this.#waits.areOver || !this.#waits.hasRoomFor(tenant)) return false;
    return deps.waiting.knownSpace(spaceId)?.isEmptyFor(names) === true;
  }

  /**
   * Wait for the first jobs of a poll that found none.
   *
   * @returns the jobs; empty if the wait is over
   * @throws TOO_MANY_WAITERS, UNAUTHENTICATED; UNAVAILABLE if jobs may be running that this call cannot return
   */
  async forJobs({ spaceId, poll, ...wanted }: RepeatedPoll): Promise<ClaimedJob[]> {
    const { waiting } = this.#call.deps;
    if (this.#isOver) return [];
    const jobs = await new Promise<ClaimedJob[]>((resolve, reject) => {
      const state = { isPolled: false, isOver: false };
      const waiter: PollWaiter = {
        ...{ ...state, ...wanted, poll: () => this.atRedis(poll) },
        ...this.#begin(resolve, reject, () => waiting.ofSpace(spaceId).end(waiter)),
      };
      waiting.ofSpace(spaceId).add(waiter);
    });
    this.releaseUnlessSent(jobs);
    return jobs;
  }

  /**
   * Wait for a job to end.
   *
   * @param hasEnded whether the job is already known to have ended
   * @returns the job with these events, once it has ended or the wait is over
   * @throws TOO_MANY_WAITERS, UNAUTHENTICATED, JOB_NOT_FOUND; OVERLOADED, UNAVAILABLE if the final read fails
   */
  async forEnd(jobId: string, { range, hasEnded }: { range: EventRange; hasEnded: boolean }): Promise<JobWithEvents> {
    const { deps, caller } = this.#call;
    const { waiting } = deps;
    const read = () => this.atRedis((store) => getJob(store, caller, jobId, range));
    if (hasEnded || this.#isOver) return read();
    return new Promise((resolve, reject) => {
      const state = { isReading: false, mustReadAgain: false, isOver: false };
      const waiter: EndWaiter = {
        ...{ ...state, read },
        ...this.#begin(resolve, reject, () => waiting.ofJob(jobId).end(waiter)),
      };
      waiting.ofJob(jobId).add(waiter);
    });
  }

  /**
   * Release claimed jobs immediately if the connection closes before the operating system has their response. If that
   * fails, they return to the queue after their delivery window.
   */
  releaseUnlessSent(jobs: readonly ClaimedJob[]): void {
    if (jobs.length === 0) return;
    const { res, spaceId, tenant, deps } = this.#call;
    const action = 'release' as const;
    const settle = jobs.map(({ id: jobId, deliveryToken }) => ({ jobId, deliveryToken, action, ...UNSENT }));
    // In a single call, because some of many calls could be refused.
    const run = () => settleAndPoll(deps.store, spaceId, { settle, poll: null, refusalOf: () => null });
    const release = () => deps.redisQueue.withSlot({ isUrgent: true, tenant, withinMs: deps.budgetMs, run });
    onResponseLost(res, () => void release().catch(() => undefined));
  }

  /** Whether the call must not start to wait. */
  get #isOver(): boolean {
    return this.#waits.areOver || this.#call.req.socket.destroyed;
  }

  /** Start a wait that ends when its promise is settled. */
  #begin<T>(resolve: (value: T) => void, reject: (error: unknown) => void, onOver: () => void) {
    const { res, tenant, place } = this.#call;
    const end = this.#waits.begin({ res, seconds: this.#seconds, tenant, place }, onOver);
    return {
      resolve(value: T) {
        end();
        resolve(value);
      },
      reject(error: unknown) {
        end();
        reject(error);
      },
    };
  }
}
