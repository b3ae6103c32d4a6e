import type { StreamMessage } from '../client/follow.js';
import type { Target } from '../client/transport.js';
import { abortReasonOf, Draining, type YardmasterError } from '../errors.js';
import type { ClaimedJob } from '../wire.generated.js';
import { Attempt, type AttemptOwner } from './attempt.js';
import type { Context, WorkerJob } from './context.js';
import { Heartbeats } from './heartbeats.js';
import { followKills } from './kill-stream.js';
import { Outbox } from './outbox.js';
import type { OnLog } from './pino.js';
import { settleLast } from './settle.js';
import { WakeUp, within } from './signals.js';
import type { OnWarning } from './warnings.js';

/** How long handlers may continue after being aborted because the worker is shutting down. */
const GRACE_MS = 5_000;
/** How long a worker retries its last call. */
const LAST_CALL_MS = 5_000;

export type AnyHandler = (job: WorkerJob, context: Context) => unknown;

export interface SessionOptions {
  handlers: ReadonlyMap<string, AnyHandler>;
  /** Handler for all other names; null for none. */
  any: AnyHandler | null;
  concurrency: number;
  drainMs: number;
  autoAck: boolean;
  warn: OnWarning;
  onLog: OnLog | undefined;
  writesWarnings: boolean;
}

/** One run of a worker: its jobs, heartbeats, stream and shutdown. */
export class Session implements AttemptOwner {
  readonly target: Target;
  readonly options: SessionOptions;
  readonly warn: OnWarning;
  readonly outbox: Outbox;
  readonly heartbeats: Heartbeats;
  /** Wakes the poller. */
  readonly freed = new WakeUp();
  readonly #changed = new WakeUp();
  readonly #attempts = new Map<number, Attempt>();
  /** Closes the stream. */
  readonly #background = new AbortController();
  /** Cuts the drain short: all jobs are released. */
  readonly #hurry = new AbortController();
  /** Stops the polls. */
  readonly #polling = new AbortController();
  #slots: number;
  #keys = 0;
  #error: Error | null = null;

  constructor(target: Target, options: SessionOptions) {
    this.target = target;
    this.options = options;
    this.warn = options.warn;
    this.#slots = options.concurrency;
    const fail = (error: Error) => this.fail(error);
    this.outbox = new Outbox(target, { warn: this.warn, fail, changed: () => this.#changed.wake() });
    const refused = (key: number, refusal: YardmasterError) => {
      const reason = abortReasonOf(refusal);
      if (reason === null) fail(refusal);
      else this.#attempts.get(key)?.abort(reason);
    };
    const blocked = (jobIds: string[]) =>
      this.warn({ kind: 'blocked', message: 'a handler blocked the event loop for more than 5 s', jobIds });
    this.heartbeats = new Heartbeats(target, { refused, blocked, failed: fail }, options.writesWarnings);
  }

  get isDraining(): boolean {
    return this.#polling.signal.aborted;
  }

  /** Number of free slots for jobs. */
  get slots(): number {
    return this.#slots;
  }

  /** Names of the jobs to claim; empty for any. */
  get names(): string[] {
    return this.options.any === null ? [...this.options.handlers.keys()] : [];
  }

  /** Return the handler of a name; null for none. */
  handlerOf(name: string): AnyHandler | null {
    return this.options.handlers.get(name) ?? this.options.any;
  }

  /** Call the handler of a job. */
  handle(job: WorkerJob, context: Context): unknown {
    return (this.handlerOf(job.name) as AnyHandler)(job, context);
  }

  /** Stop the worker with an error that someone has to fix. */
  fail(error: Error): void {
    this.#error ??= error;
    this.stop();
  }

  /** Stop polling and drain. A second call releases all jobs immediately. */
  stop(): void {
    if (this.isDraining && this.#error === null) this.#hurry.abort();
    this.#polling.abort(); // Closes a waiting poll, so the service releases jobs that it would have returned.
    this.freed.wake();
    this.#changed.wake();
  }

  /**
   * Run until stopped and drained.
   *
   * @param poll claims jobs until its signal is aborted
   * @throws the error that ended the session
   */
  async run(poll: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const message = (event: StreamMessage) => {
      if (event.type === 'init') this.heartbeats.beatNow();
      for (const attempt of this.#attempts.values()) if (attempt.job.id === event.jobId) attempt.onMessage(event);
    };
    const missing = (why: string) => {
      const message = `can't open the kill stream; a kill isn't noticed until the next heartbeat, up to 60 s later (${why})`;
      this.warn({ kind: 'stream', message, jobIds: [] });
    };
    void followKills(this.target, this.names, { message, missing }, this.#background.signal);
    try {
      await poll(this.#polling.signal);
      await this.#drain();
      await this.#settleRest();
    } finally {
      this.#background.abort();
      await this.heartbeats.close();
    }
    if (this.#error !== null) throw this.#error;
  }

  /** Wait for the handlers, then abort them and give them a moment. */
  async #drain(): Promise<void> {
    if (this.#error === null && (await this.#isIdleWithin(this.options.drainMs))) return;
    for (const attempt of this.#attempts.values()) attempt.abort(new Draining());
    await this.#isIdleWithin(GRACE_MS);
  }

  /** Wait until no job is left. @returns false if time runs out; true if idle or stopped a second time */
  async #isIdleWithin(ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    while (this.#attempts.size > 0 || !this.outbox.isEmpty) {
      const left = end - performance.now();
      if (this.#hurry.signal.aborted) return true;
      if (left <= 0) return false;
      await within(left, this.#changed.wait(this.#hurry.signal));
    }
    return true;
  }

  /** Send the unstored outcomes and release all other jobs. */
  async #settleRest(): Promise<void> {
    this.outbox.stop();
    const rest = [...this.#attempts.values()].flatMap((attempt) => attempt.close());
    const { left, error } = await settleLast(this.target, rest, LAST_CALL_MS);
    if (error === null) return;
    const jobIds = left.map(({ jobId }) => jobId);
    this.warn({ kind: 'unsettled', message: `could not report the outcome of jobs: ${error.message}`, jobIds });
  }

  /** Assign a slot to a claimed job. */
  take(job: ClaimedJob): Attempt {
    const attempt = new Attempt(this, job, ++this.#keys);
    this.#attempts.set(attempt.key, attempt);
    this.#slots--;
    return attempt;
  }

  freeSlot(): void {
    this.#slots++;
    this.freed.wake();
  }

  remove({ key }: { key: number }): void {
    this.#attempts.delete(key);
    this.heartbeats.end(key);
    this.#changed.wake();
  }
}
