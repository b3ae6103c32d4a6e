import type { StreamMessage } from '../client/follow.js';
import { jobPath, send, type Target } from '../client/transport.js';
import { type ErrorObject, errorLine, errorTrace } from '../error-text.js';
import { type Aborted, abortReasonOf, DeliveryLost, Draining, Killed, TimedOut, YardmasterError } from '../errors.js';
import type { ClaimedJob, Outcome } from '../wire.generated.js';
import { type Context, contextOf, type WorkerJob } from './context.js';
import type { Heartbeats } from './heartbeats.js';
import { JobLog } from './job-log.js';
import { type Outbox, STOPPED } from './outbox.js';
import { type End, type Fields, outcomeOf, releaseOf } from './outcomes.js';
import type { OnLog } from './pino.js';
import { AttemptReporter, type ReportedAttempt } from './reporter.js';
import type { OnWarning, WarningKind } from './warnings.js';

/** Longest time for which logs and progress may delay the end of an attempt. */
const FLUSH_MS = 10_000;
export const STOP_REASON = 'worker is shutting down';

type RetriedData = { attemptNumber: number };

/** The worker run that an attempt belongs to. */
export interface AttemptOwner {
  readonly target: Target;
  readonly options: { onLog: OnLog | undefined };
  readonly warn: OnWarning;
  readonly outbox: Outbox;
  readonly heartbeats: Heartbeats;
  readonly isDraining: boolean;
  /** Call the handler of a job. */
  handle(job: WorkerJob, context: Context): unknown;
  freeSlot(): void;
  /** Remove an attempt that is over. */
  remove(attempt: { key: number }): void;
}

/**
 * A claimed job in this worker.
 *
 *     claimed ─ack→ running ─handler returns→ unsettled ─outcome stored→ removed
 *        └ lost: nothing more is sent; it is removed when its handler returns
 *
 * It has a slot until its handler returns, and gets heartbeats until its outcome is stored.
 */
export class Attempt implements ReportedAttempt {
  readonly key: number;
  readonly job: ClaimedJob;
  readonly log: JobLog;
  readonly #session: AttemptOwner;
  readonly #handler = new AbortController();
  readonly #gone = new AbortController();
  #hasEnded = false;
  #isDraining = false;
  /** Outcome of the handler, while the log is being sent. */
  #end: End | null = null;
  #unsettled: Outcome[] | null = null;

  constructor(session: AttemptOwner, job: ClaimedJob, key: number) {
    this.#session = session;
    this.job = job;
    this.key = key;
    this.log = new JobLog(session.target, job.id, session.warn);
  }

  /** Signal of the handler. */
  get signal(): AbortSignal {
    return this.#handler.signal;
  }

  /** Aborted when nothing more may be sent: the job is lost, or the worker has released it. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Whether it is too late for the handler to report anything. */
  get isOver(): boolean {
    return this.gone.aborted || this.#hasEnded;
  }

  throwIfOver(): void {
    this.gone.throwIfAborted();
    if (this.#hasEnded) throw new Error('The handler has returned');
  }

  warn(kind: WarningKind, message: string): void {
    this.#session.warn({ kind, message, jobIds: [this.job.id] });
  }

  outcome(fields: Fields): Outcome {
    return { jobId: this.job.id, deliveryToken: this.job.deliveryToken, ...fields };
  }

  /** Send a report. @returns null if it is stored; the refusal, or the reason if the attempt is aborted first */
  report(fields: Fields): Promise<Error | null> {
    return new Promise((resolve) => {
      const isGone = () => resolve(this.gone.reason as Error);
      this.gone.addEventListener('abort', isGone, { once: true });
      const done = (error: Error | null) => {
        this.gone.removeEventListener('abort', isGone);
        resolve(error);
      };
      this.#session.outbox.add({ outcome: this.outcome(fields), done });
    });
  }

  /** Send an ephemeral event once. @throws the refusal, or the reason if the attempt is aborted first */
  async reportEphemeral(data: unknown): Promise<void> {
    const { id, deliveryToken } = this.job;
    const path = jobPath(id, '/event?ephemeral=true');
    const headers = { 'x-delivery-token': deliveryToken };
    await send(this.#session.target, { method: 'POST', path, headers, body: JSON.stringify(data ?? null) }, this.gone);
  }

  /** Call the handler after a successful ack. */
  start(): void {
    if (this.#session.isDraining) {
      this.#settle([this.outcome(releaseOf(0, STOP_REASON))]);
      return;
    }
    this.#session.heartbeats.start(this.key, this.job);
    void this.#run();
  }

  /** Remove a job that this worker no longer has, and free its slot. */
  drop(): void {
    this.#session.freeSlot();
    this.#session.remove(this);
  }

  async #run(): Promise<void> {
    const { id, name, payload, maxRetries, timeoutSeconds, createdAt } = this.job;
    const more = { attempt: this.job.attempt, maxRetries, timeoutSeconds, createdAt: new Date(createdAt) };
    const job: WorkerJob = { id, name, payload, ...more };
    const reporter = new AttemptReporter(this, (entry) => this.#session.options.onLog?.(entry, job));
    const failed = (error: ErrorObject) => {
      if (!this.signal.aborted)
        this.warn('failed', `attempt ${job.attempt} of ${name} failed: ${errorTrace(error) ?? errorLine(error)}`);
    };
    let end = await outcomeOf(() => this.#session.handle(job, contextOf(reporter)), failed);
    if (this.#isDraining && end.action === 'fail') end = releaseOf(0, STOP_REASON);
    this.#hasEnded = true;
    this.#end = end;
    if (this.gone.aborted) {
      void this.log.close(FLUSH_MS);
      this.drop();
      return;
    }
    const progress = await reporter.lastProgress(FLUSH_MS); // First, so that the reporter sends nothing while the log is sent.
    await this.log.close(FLUSH_MS);
    this.#settle([...(progress ? [this.outcome({ action: 'progress', ...progress })] : []), this.outcome(end)]);
  }

  /** Queue the last outcomes and free the slot, so that the next poll can carry them. */
  #settle(outcomes: Outcome[]): void {
    if (this.gone.aborted) {
      this.drop();
      return;
    }
    this.#unsettled = outcomes;
    const last = outcomes.length - 1;
    const done = (i: number) => (error: Error | null) => (i === last ? this.#settled(error) : undefined);
    this.#session.outbox.add(...outcomes.map((outcome, i) => ({ outcome, done: done(i) })));
    this.#session.freeSlot();
  }

  #settled(error: Error | null): void {
    if (error === STOPPED) return; // The session sends it again when it ends.
    if (error instanceof YardmasterError)
      this.warn(abortReasonOf(error) ? 'lost' : 'report', `the outcome of a job was refused: ${error.message}`);
    this.#session.remove(this);
  }

  /**
   * Abort the handler. Unless the worker is draining, nothing more is sent. An attempt whose outcome is being sent is
   * left alone, because the reason may be an effect of that very outcome.
   */
  abort(reason: Aborted): void {
    if (this.#unsettled !== null || this.gone.aborted) return;
    if (reason instanceof Draining) this.#isDraining = true;
    else {
      this.#gone.abort(reason);
      this.#session.heartbeats.end(this.key);
    }
    this.#handler.abort(reason);
    if (reason instanceof DeliveryLost || reason instanceof TimedOut)
      this.warn('lost', `a handler was aborted: ${reason.message}`);
  }

  /**
   * Abort the handler if an event of the stream proves that the job is lost. An event can be about an earlier attempt,
   * so any other one only triggers a heartbeat, whose response tells.
   */
  onMessage({ type, data }: StreamMessage): void {
    if (type === 'killed') this.abort(new Killed());
    else if (type === 'dead') this.abort(new TimedOut());
    else if (type === 'retried' && (data as RetriedData).attemptNumber === this.job.attempt) this.abort(new TimedOut());
    else if (this.#unsettled === null) this.#session.heartbeats.beatNow();
  }

  /** End the attempt because the worker is shutting down. @returns its unstored outcomes, or a release if it has none */
  close(): Outcome[] {
    if (this.gone.aborted) return [];
    const unsettled = this.#unsettled ?? [this.outcome(this.#end ?? releaseOf(0, STOP_REASON))];
    this.#gone.abort(new Draining());
    this.#handler.abort(new Draining());
    return unsettled;
  }
}
