import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedJob } from '@yardmaster/protocol';
import { PollQueue, type PollWaiter, wants } from './poll-queue.js';
import { isTransient, isUnknown, WakeChannel, type WakeChannelOptions } from './wake-channel.js';

/** Delay before the next poll if Redis is unavailable or busy, milliseconds. */
const RETRY_MS = 500;

export interface SpaceWakeChannelOptions extends WakeChannelOptions {
  /** Check whether the space has a claimable job with one of these names; an empty list means any. */
  hasClaimable(names: readonly string[]): Promise<boolean>;
}

/** Number of wake-ups by name that no poll was made for yet. */
type WakeUps = Map<string, number>;

/**
 * The wake-up channel of a space, and the polls that wait for its jobs.
 *
 * Each message announces one more claimable job, and triggers one poll on behalf of the first waiting call that asks for
 * its name. Only one poll runs at a time, so that earlier callers get their jobs first. When messages may have been missed,
 * polls are repeated for as long as they return all the jobs that they ask for, or must continue behind paused jobs (see
 * pollJobs):
 *
 * - when the channel is subscribed, for the first time or again;
 * - for a newly waiting call that asks for a name that no other call asks for: its own first poll found nothing, but a job
 *   may have arrived before it started to wait;
 * - when a check finds a claimable job.
 */
export class SpaceWakeChannel extends WakeChannel {
  readonly #hasClaimable: SpaceWakeChannelOptions['hasClaimable'];
  readonly #queue = new PollQueue();
  #wakeUps: WakeUps = new Map();
  /** Waiting polls whose job may have arrived without a message. */
  readonly #unchecked = new Set<PollWaiter>();
  #isRunning = false;

  constructor(options: SpaceWakeChannelOptions) {
    super(options);
    this.#hasClaimable = options.hasClaimable;
  }

  /**
   * Return whether a poll for these names would find nothing, from what this process knows: others already wait for the
   * same names, and every message has had its poll.
   */
  isEmptyFor(names: readonly string[]): boolean {
    return this.isSubscribed && !this.#isRunning && this.#queue.covers(names);
  }

  /** Add a poll that found no job. */
  add(waiter: PollWaiter): void {
    if (this.isSubscribed && !this.#queue.covers(waiter.names)) this.#unchecked.add(waiter);
    this.#queue.add(waiter);
    void this.#run();
  }

  /** End the wait of a poll. If a poll is in flight for it, the result becomes its response. */
  end(waiter: PollWaiter): void {
    waiter.isOver = true;
    if (!waiter.isPolled) this.#settle(waiter, () => waiter.resolve([]));
  }

  message(name: string): void {
    if (name === '') this.#pollAll(); // Jobs with any name may have arrived.
    if (!this.#queue.wants(name) || name === '') return;
    this.#wakeUps.set(name, (this.#wakeUps.get(name) ?? 0) + 1);
    void this.#run();
  }

  subscribed(): void {
    this.#pollAll();
  }

  protected get isUsed(): boolean {
    return this.#queue.size > 0;
  }

  protected async check(): Promise<void> {
    // If the read fails, the next check retries it.
    if (await this.#hasClaimable(this.#queue.names).catch(() => false)) this.#pollAll();
  }

  #pollAll(): void {
    for (const waiter of this.#queue.covering()) this.#unchecked.add(waiter);
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let next = this.#next(); next !== null; next = this.#next()) await this.#pollFor(next);
    this.#isRunning = false;
  }

  #next(): PollWaiter | null {
    if (this.#wakeUps.size > 0) {
      const names = [...this.#wakeUps.keys()];
      const first = this.#queue.first((waiter) => names.some((name) => wants(waiter, name)));
      if (first !== null) return first;
      this.#wakeUps.clear(); // The callers that asked for them are gone.
    }
    return this.#unchecked.values().next().value ?? null;
  }

  /** Poll on behalf of a waiting call, and respond if this returns a job or the wait is over. */
  async #pollFor(waiter: PollWaiter): Promise<void> {
    const wasUnchecked = this.#unchecked.delete(waiter);
    // Taken before the poll: a message that arrives during the poll may be about a job that the poll misses.
    const taken = this.#takeWakeUps(waiter);
    waiter.isPolled = true;
    const outcome = await waiter.poll().then(
      (polled) => polled,
      (error: unknown) => ({ error }),
    );
    waiter.isPolled = false;
    if ('jobs' in outcome) {
      const { jobs, isMore } = outcome;
      if (jobs.length > 0 || waiter.isOver) this.#settle(waiter, () => waiter.resolve(jobs));
      if (jobs.length < waiter.count && !isMore) return; // The queue has no more jobs.
      this.#restoreWakeUps(taken, jobs);
      if (wasUnchecked) this.#pollAll();
      return;
    }
    this.#restoreWakeUps(taken);
    if (wasUnchecked) this.#unchecked.add(waiter);
    // With autoAck, jobs that no worker received may be running, so the caller must learn that the outcome is unknown.
    if (!isTransient(outcome.error) || (waiter.autoAck && isUnknown(outcome.error)))
      return this.#settle(waiter, () => waiter.reject(outcome.error));
    if (waiter.isOver) this.#settle(waiter, () => waiter.resolve([]));
    await delay(RETRY_MS, undefined, { ref: false });
  }

  /** Take the wake-ups that a poll on behalf of this call answers. */
  #takeWakeUps(waiter: PollWaiter): WakeUps {
    const taken: WakeUps = new Map();
    for (const [name, count] of this.#wakeUps) if (wants(waiter, name)) taken.set(name, count);
    for (const name of taken.keys()) this.#wakeUps.delete(name);
    return taken;
  }

  /** Put back wake-ups, except those of jobs that were claimed. */
  #restoreWakeUps(taken: WakeUps, claimed: readonly ClaimedJob[] = []): void {
    for (const { name } of claimed) taken.set(name, (taken.get(name) ?? 0) - 1);
    for (const [name, count] of taken) {
      if (count > 0) this.#wakeUps.set(name, (this.#wakeUps.get(name) ?? 0) + count);
    }
  }

  #settle(waiter: PollWaiter, respond: () => void): void {
    this.#queue.delete(waiter);
    // Other calls may have relied on the check of this one.
    if (this.#unchecked.delete(waiter)) this.#pollAll();
    respond();
  }
}
