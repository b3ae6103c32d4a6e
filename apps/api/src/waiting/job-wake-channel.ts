import { isTerminal, type JobWithEvents, type Status } from '@yardmaster/protocol';
import { isTransient, WakeChannel, type WakeChannelOptions } from './wake-channel.js';

/** A call that waits for a job to end. */
export interface EndWaiter {
  /** Read the job for the caller. */
  read(): Promise<JobWithEvents>;
  resolve(job: JobWithEvents): void;
  reject(error: unknown): void;
  /** Whether its wait is over, so that it gets the job in its current state. */
  isOver: boolean;
  isReading: boolean;
  /** Whether the job may have ended since the read started. */
  mustReadAgain: boolean;
}

export interface JobWakeChannelOptions extends WakeChannelOptions {
  /** Read the status of the job; null if it no longer exists. */
  readStatus(): Promise<Status | null>;
}

/** Status in a published event. The name before it contains no quotes (see publish.lua), and the data follow it. */
const STATUS = /"status":"(\w+)"/;

/** The channel of a job, and the calls that wait for the job to end. */
export class JobWakeChannel extends WakeChannel {
  readonly #readStatus: JobWakeChannelOptions['readStatus'];
  readonly #waiters = new Set<EndWaiter>();

  constructor(options: JobWakeChannelOptions) {
    super(options);
    this.#readStatus = options.readStatus;
  }

  /** Add a waiting call. The job may have ended since the call read it. */
  add(waiter: EndWaiter): void {
    this.#waiters.add(waiter);
    if (this.isSubscribed) void this.check();
  }

  /** End the wait of a call, which then gets the job in its current state. */
  end(waiter: EndWaiter): void {
    waiter.isOver = true;
    this.#waiters.delete(waiter);
    if (!waiter.isReading) void this.#look(waiter);
  }

  message(text: string): void {
    if (isTerminal(STATUS.exec(text)?.[1] ?? null)) this.#lookAll();
  }

  subscribed(): void {
    void this.check();
  }

  protected get isUsed(): boolean {
    return this.#waiters.size > 0;
  }

  protected async check(): Promise<void> {
    // If the read fails, the next check retries it.
    const status = await this.#readStatus().catch(() => undefined);
    if (status === null || (status !== undefined && isTerminal(status))) this.#lookAll();
  }

  #lookAll(): void {
    for (const waiter of this.#waiters) {
      if (waiter.isReading) waiter.mustReadAgain = true;
      else void this.#look(waiter);
    }
  }

  /** Read the job for a call, and respond if the job has ended or the wait is over. */
  async #look(waiter: EndWaiter): Promise<void> {
    waiter.isReading = true;
    try {
      do {
        waiter.mustReadAgain = false;
        const job = await waiter.read();
        if (isTerminal(job.status) || waiter.isOver) return this.#settle(waiter, () => waiter.resolve(job));
      } while (waiter.mustReadAgain);
    } catch (error) {
      // Otherwise, the next check retries.
      if (waiter.isOver || !isTransient(error)) this.#settle(waiter, () => waiter.reject(error));
    } finally {
      waiter.isReading = false;
    }
  }

  #settle(waiter: EndWaiter, respond: () => void): void {
    this.#waiters.delete(waiter);
    respond();
  }
}
