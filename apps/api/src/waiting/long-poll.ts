import type { ServerResponse } from 'node:http';
import type { ClaimedJob, JobWithEvents } from '@yardmaster/protocol';
import { authenticate, cachedPrincipal, presentedKey } from '@yardmaster/server';
import { type Caller, getJob, type Polled, type Store, settleAndPoll } from '@yardmaster/store';
import type { Call } from '../call.js';
import { withReadSlots } from '../limits/redis-queue.js';
import { onResponseLost } from './connection-close.js';
import type { EndWaiter } from './job-wake-channel.js';
import type { AtRedis, LongPolling } from './long-polling.js';
import type { PollWaiter } from './poll-queue.js';

/** How a job is released whose worker was gone before it got the job. */
const UNSENT = {
  reason: 'the connection of the worker was closed before the response was sent',
  delaySeconds: null,
};

export interface LongPollOptions {
  waiting: LongPolling;
  res: ServerResponse;
  /** How long the call may wait; 0 for a poll that only continues, or releases what it cannot send. */
  seconds: number;
  caller: Caller;
  tenant: string;
  /** Space of its poll; '' for other calls. */
  spaceId: string;
  /** Runs a part of the call at Redis, if the caller's key is still valid. */
  atRedis: AtRedis;
  /** Runs what the server does on its own, before calls that are not urgent. */
  atRedisFirst: AtRedis;
}

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
  readonly #options: LongPollOptions;

  constructor(options: LongPollOptions) {
    this.#options = options;
  }

  /** Whether the call waits when it has nothing to return. */
  get mayWait(): boolean {
    return this.#options.seconds > 0;
  }

  /** Runs a further part of the call at Redis, if the caller's key is still valid. */
  get atRedis(): AtRedis {
    return this.#options.atRedis;
  }

  /** Whether the call may wait, or needs no room because the process is about to end. */
  get hasRoom(): boolean {
    const { tenant, waiting } = this.#options;
    return waiting.waits.hasRoomFor(tenant) || waiting.waits.areOver;
  }

  /**
   * Whether a poll may wait without a first poll, which would find nothing as far as this process knows. So a fleet whose
   * workers poll again after each wait asks Redis nothing.
   */
  needsNoFirstPoll(spaceId: string, names: readonly string[]): boolean {
    const { tenant, waiting } = this.#options;
    const { waits, knownSpace } = waiting;
    if (!this.mayWait || waits.areOver || !waits.hasRoomFor(tenant)) return false;
    return knownSpace(spaceId)?.isEmptyFor(names) === true;
  }

  /**
   * Wait for the first jobs of a poll that has found none.
   *
   * @returns the jobs; empty when the wait is over
   * @throws TOO_MANY_WAITERS, UNAUTHENTICATED; UNAVAILABLE when jobs may be running that this call cannot return
   */
  async forJobs({ spaceId, poll, ...wanted }: RepeatedPoll): Promise<ClaimedJob[]> {
    const { waiting, atRedis } = this.#options;
    if (this.#isOver) return [];
    const jobs = await new Promise<ClaimedJob[]>((resolve, reject) => {
      const state = { isPolled: false, isOver: false };
      const waiter: PollWaiter = {
        ...{ ...state, ...wanted, poll: () => atRedis(poll) },
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
   * @returns the job with its history, as it is when it has ended or when the wait is over
   * @throws TOO_MANY_WAITERS, UNAUTHENTICATED, JOB_NOT_FOUND; OVERLOADED, UNAVAILABLE when it cannot be read at the end
   */
  async forEnd(jobId: string, hasEnded: boolean): Promise<JobWithEvents> {
    const { waiting, atRedis, caller } = this.#options;
    const read = () => atRedis((store) => getJob(store, caller, jobId));
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
    const { res, spaceId, atRedisFirst } = this.#options;
    const action = 'release' as const;
    const settle = jobs.map(({ id: jobId, deliveryToken }) => ({ jobId, deliveryToken, action, ...UNSENT }));
    // All in one call, because of many some could be refused.
    const release = (store: Store) => settleAndPoll(store, spaceId, { settle, poll: null, refusalOf: () => null });
    onResponseLost(res, () => void atRedisFirst(release).catch(() => undefined));
  }

  /** Whether the call must not begin to wait. */
  get #isOver(): boolean {
    const { waiting, res } = this.#options;
    return waiting.waits.areOver || res.req.socket.destroyed;
  }

  /** Begin a wait that ends when its promise is settled. */
  #begin<T>(resolve: (value: T) => void, reject: (error: unknown) => void, onOver: () => void) {
    const { waiting, res, seconds, tenant } = this.#options;
    const end = waiting.waits.begin({ res, seconds, tenant }, onOver);
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

/** Return what a call may wait for; with 0 seconds it only makes further calls to Redis. */
export function longPoll({ req, res, deps, caller, tenant, spaceId }: Call, seconds: number): LongPoll {
  const { store, redisQueue, waiting, budgetMs: withinMs } = deps;
  return new LongPoll({
    ...{ waiting, res, seconds, caller, tenant, spaceId },
    atRedis: (work) =>
      redisQueue.withSlot({
        ...{ isUrgent: false, tenant, withinMs },
        async run(slot) {
          // The key may have been revoked, or have expired, since the call began to wait.
          const apiKey = presentedKey(req);
          if (cachedPrincipal(deps.authenticator, apiKey) === undefined) await authenticate(deps, req, apiKey);
          return work(withReadSlots(store, slot));
        },
      }),
    atRedisFirst: (work) => redisQueue.withSlot({ isUrgent: true, tenant, withinMs, run: () => work(store) }),
  });
}
