import type { ClaimedJob, EventRange, JobWithEvents } from '@yardmaster/protocol';
import { authenticate, cachedPrincipal, presentedKey } from '@yardmaster/server';
import { getJob, type Polled, type Store, settleAndPoll } from '@yardmaster/store';
import type { Call } from '../call.js';
import { withReadSlots } from '../limits/redis-queue.js';
import { onResponseLost } from './connection-close.js';
import type { EndWaiter } from './job-wake-channel.js';
import type { PollWaiter } from './poll-queue.js';
import type { WaitRegistry } from './wait-registry.js';

/** How a job is released whose worker was gone before it got the job. */
const UNSENT = {
  reason: 'the connection of the worker was closed before the response was sent',
  delaySeconds: null,
};

/** The poll that a call repeats while it waits. */
export interface RepeatedPoll {
  spaceId: string;
  /** Names of jobs to claim; empty for any. */
  names: readonly string[];
  count: number;
  autoAck: boolean;
  poll(store: Store): Promise<Polled>;
}

/** What a single call with `waitSeconds` may wait for, once it has done its work and has its first outcome. */
export class LongPoll {
  readonly #call: Call;
  readonly #seconds: number;

  /** @param seconds how long the call may wait; 0 for a poll that only continues, or releases what it cannot send */
  constructor(call: Call, seconds: number) {
    this.#call = call;
    this.#seconds = seconds;
  }

  /** Whether the call waits when it has nothing to return. */
  get mayWait(): boolean {
    return this.#seconds > 0;
  }

  /** Whether the call may wait, or needs no room because the process is about to end. */
  get hasRoom(): boolean {
    return this.#waits.hasRoomFor(this.#call.tenant) || this.#waits.areOver;
  }

  get #waits(): WaitRegistry {
    return this.#call.deps.waiting.waits;
  }

  /** Run a further part of the call at Redis, if the caller's key is still valid. */
  atRedis<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const { deps, req, tenant } = this.#call;
    return deps.redisQueue.withSlot({
      ...{ isUrgent: false, tenant, withinMs: deps.budgetMs },
      async run(slot) {
        // The key may have been revoked, or have expired, since the call began to wait.
        const apiKey = presentedKey(req);
        if (cachedPrincipal(deps.authenticator, apiKey) === undefined) await authenticate(deps, apiKey);
        return work(withReadSlots(deps.store, slot));
      },
    });
  }

  /**
   * Whether a poll may wait without a first poll, which would find nothing as far as this process knows. So a fleet whose
   * workers poll again after each wait asks Redis nothing.
   */
  needsNoFirstPoll(spaceId: string, names: readonly string[]): boolean {
    const { deps, tenant } = this.#call;
    if (!this.mayWait || this.#waits.areOver || !this.#waits.hasRoomFor(tenant)) return false;
    return deps.waiting.knownSpace(spaceId)?.isEmptyFor(names) === true;
  }

  /**
   * Wait for the first jobs of a poll that has found none.
   *
   * @returns the jobs; empty when the wait is over
   * @throws TOO_MANY_WAITERS, UNAUTHENTICATED; UNAVAILABLE when jobs may be running that this call cannot return
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
   * Wait for the end of a job.
   *
   * @param hasEnded whether that is known already
   * @returns the job with these events, as it is when it has ended or when the wait is over
   * @throws TOO_MANY_WAITERS, UNAUTHENTICATED, JOB_NOT_FOUND; OVERLOADED, UNAVAILABLE when it cannot be read at the end
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
   * Release claimed jobs at once when the connection closes before the system has their response. If that fails, they
   * are pending again after their delivery window.
   */
  releaseUnlessSent(jobs: readonly ClaimedJob[]): void {
    if (jobs.length === 0) return;
    const { res, spaceId, tenant, deps } = this.#call;
    const action = 'release' as const;
    const settle = jobs.map(({ id: jobId, deliveryToken }) => ({ jobId, deliveryToken, action, ...UNSENT }));
    // All in one call, because of many some could be refused.
    const run = () => settleAndPoll(deps.store, spaceId, { settle, poll: null, refusalOf: () => null });
    const release = () => deps.redisQueue.withSlot({ isUrgent: true, tenant, withinMs: deps.budgetMs, run });
    onResponseLost(res, () => void release().catch(() => undefined));
  }

  /** Whether the call must not begin to wait. */
  get #isOver(): boolean {
    return this.#waits.areOver || this.#call.req.socket.destroyed;
  }

  /** Begin a wait that ends when its promise is settled. */
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
