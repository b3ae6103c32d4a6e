import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedJob } from '@yardmaster/protocol';
import { PollQueue, type PollWaiter, wants } from './poll-queue.js';
import { isTransient, isUnknown, WakeChannel, type WakeChannelOptions } from './wake-channel.js';

/** Time before the next poll when one failed because Redis is away or busy, milliseconds. */
const RETRY_MS = 500;

export interface SpaceWakeChannelOptions extends WakeChannelOptions {
  /** Check whether the space has a claimable job of one of these names; no names mean any. */
  hasClaimable(names: readonly string[]): Promise<boolean>;
}

/** How many wake-ups have come for jobs of each name that no poll was made for. */
type WakeUps = Map<string, number>;

/**
 * The wake-up channel of a space, and the polls that wait for its jobs.
 *
 * Each message says that one more job can be claimed, and so causes one poll, for the first waiting poll that asks for
 * its name. There is only one at a time, so that an earlier one gets its job first. Where messages may have been missed,
 * polls are made as long as they bring all the jobs that they ask for, or must continue behind paused jobs (see pollJobs):
 *
 * - when the channel is subscribed, for the first time or again;
 * - for a waiting poll that has come since, and asks for a name that no other asked for: its own first poll found
 *   nothing, but a job may have come before it began to wait;
 * - when a check finds a job that can be claimed.
 */
export class SpaceWakeChannel extends WakeChannel {
  readonly #hasClaimable: SpaceWakeChannelOptions['hasClaimable'];
  readonly #queue = new PollQueue();
  #wakeUps: WakeUps = new Map();
  /** Waiting polls for which a job may have come without a message. */
  readonly #unchecked = new Set<PollWaiter>();
  #isRunning = false;

  constructor(options: SpaceWakeChannelOptions) {
    super(options);
    this.#hasClaimable = options.hasClaimable;
  }

  /**
   * Whether a poll for these names would find nothing, as far as this process knows: others wait for the same names, and
   * there is no message that no poll was made for.
   */
  isEmptyFor(names: readonly string[]): boolean {
    return this.isSubscribed && !this.#isRunning && this.#queue.covers(names);
  }

  /** Make a poll wait that has found no job. */
  add(waiter: PollWaiter): void {
    if (this.isSubscribed && !this.#queue.covers(waiter.names)) this.#unchecked.add(waiter);
    this.#queue.add(waiter);
    void this.#run();
  }

  /** End the wait of a poll; one that is under way for it still decides its response. */
  end(waiter: PollWaiter): void {
    waiter.isOver = true;
    if (!waiter.isPolled) this.#settle(waiter, () => waiter.resolve([]));
  }

  message(name: string): void {
    if (name === '') this.#pollAll(); // Jobs of any name may have come.
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
    // When it cannot be read, the next check tries again.
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
      this.#wakeUps.clear(); // Those who asked for them are gone.
    }
    return this.#unchecked.values().next().value ?? null;
  }

  /** Poll for a waiting poll, and respond when that brings a job or its wait is over. */
  async #pollFor(waiter: PollWaiter): Promise<void> {
    const wasUnchecked = this.#unchecked.delete(waiter);
    // Taken before the poll: a message that comes during the poll may be about a job that the poll does not see.
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
      if (jobs.length < waiter.count && !isMore) return; // There are no more.
      this.#restoreWakeUps(taken, jobs);
      if (wasUnchecked) this.#pollAll();
      return;
    }
    this.#restoreWakeUps(taken);
    if (wasUnchecked) this.#unchecked.add(waiter);
    // With autoAck, jobs may be running now that no worker received, so the caller must learn that the outcome is unknown.
    if (!isTransient(outcome.error) || (waiter.autoAck && isUnknown(outcome.error)))
      return this.#settle(waiter, () => waiter.reject(outcome.error));
    if (waiter.isOver) this.#settle(waiter, () => waiter.resolve([]));
    await delay(RETRY_MS, undefined, { ref: false });
  }

  /** Take the wake-ups that a poll for this one answers. */
  #takeWakeUps(waiter: PollWaiter): WakeUps {
    const taken: WakeUps = new Map();
    for (const [name, count] of this.#wakeUps) if (wants(waiter, name)) taken.set(name, count);
    for (const name of taken.keys()) this.#wakeUps.delete(name);
    return taken;
  }

  /** Release wake-ups, except those for jobs that were claimed. */
  #restoreWakeUps(taken: WakeUps, claimed: readonly ClaimedJob[] = []): void {
    for (const { name } of claimed) taken.set(name, (taken.get(name) ?? 0) - 1);
    for (const [name, count] of taken) {
      if (count > 0) this.#wakeUps.set(name, (this.#wakeUps.get(name) ?? 0) + count);
    }
  }

  #settle(waiter: PollWaiter, respond: () => void): void {
    this.#queue.delete(waiter);
    // Others may have relied on the check of this one.
    if (this.#unchecked.delete(waiter)) this.#pollAll();
    respond();
  }
}
