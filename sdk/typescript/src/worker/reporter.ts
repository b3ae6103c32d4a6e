import { Backoff, pause } from '../backoff.js';
import { type Aborted, abortReasonOf, Draining, YardmasterError } from '../errors.js';
import { jsonOf } from '../json.js';
import type { ClaimedJob } from '../wire.generated.js';
import type { EventOptions, ProgressReport, Reporter } from './context.js';
import type { JobLog, LogEntry } from './job-log.js';
import { STOPPED } from './outbox.js';
import type { Fields } from './outcomes.js';
import { within } from './signals.js';
import type { WarningKind } from './warnings.js';

const PROGRESS_MS = 200;

const isFull = (error: unknown) => error instanceof YardmasterError && error.code === 'STORAGE_FULL';

/** The attempt whose reports a reporter sends. */
export interface ReportedAttempt {
  readonly job: ClaimedJob;
  readonly log: JobLog;
  /** Signal of the handler. */
  readonly signal: AbortSignal;
  /** Aborted when nothing more may be sent. */
  readonly gone: AbortSignal;
  /** Whether it is too late for the handler to report anything. */
  readonly isOver: boolean;
  throwIfOver(): void;
  warn(kind: WarningKind, message: string): void;
  /** Send a report. @returns null if it is stored, otherwise the refusal */
  report(fields: Fields): Promise<Error | null>;
  reportEphemeral(data: unknown): Promise<void>;
  /** Abort the handler. */
  abort(reason: Aborted): void;
}

/** Sends the reports of one attempt's handler. */
export class AttemptReporter implements Reporter {
  readonly #attempt: ReportedAttempt;
  readonly #onLog: (entry: LogEntry) => void;
  #newest: ProgressReport | null = null;
  #sending: Promise<void> | null = null;
  #inFlight: Promise<void> | null = null;
  #isClosed = false;

  /** @param onLog also called with what the handler logs */
  constructor(attempt: ReportedAttempt, onLog: (entry: LogEntry) => void) {
    this.#attempt = attempt;
    this.#onLog = onLog;
  }

  get signal(): AbortSignal {
    return this.#attempt.signal;
  }

  get checkpoint(): unknown {
    return this.#attempt.job.checkpoint;
  }

  log(entry: LogEntry): void {
    this.#onLog(entry);
    this.#attempt.log.add(entry);
  }

  /**
   * Send one report. If the refusal shows that the job is lost, abort the handler.
   *
   * @throws the refusal or the reason
   */
  async #send(fields: Fields): Promise<void> {
    this.#attempt.throwIfOver();
    const error = await this.#attempt.report(fields);
    if (error === null) return;
    if (error === STOPPED) throw new Draining();
    throw this.#abortedBy(error);
  }

  /** Abort the handler if a refusal shows that the job is lost. @returns the error to throw in the handler */
  #abortedBy(error: Error): Error {
    const reason = error instanceof YardmasterError ? abortReasonOf(error) : null;
    if (reason !== null) this.#attempt.abort(reason);
    return reason ?? error;
  }

  async save(data: unknown): Promise<void> {
    const stored = JSON.parse(jsonOf(data, 'checkpoint')) as unknown;
    const backoff = new Backoff();
    for (;;) {
      try {
        return await this.#send({ action: 'checkpoint', data: stored });
      } catch (error) {
        if (!isFull(error)) throw error;
        await pause(backoff.next(error), this.#attempt.gone);
      }
    }
  }

  async event(data: unknown, { ephemeral = false }: EventOptions = {}): Promise<void> {
    const stored = JSON.parse(jsonOf(data, 'event')) as unknown;
    if (ephemeral) return this.#ephemeral(stored);
    try {
      await this.#send({ action: 'event', data: stored });
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }

  async #ephemeral(data: unknown): Promise<void> {
    this.#attempt.throwIfOver();
    try {
      await this.#attempt.reportEphemeral(data);
    } catch (error) {
      this.#attempt.gone.throwIfAborted();
      // It may be lost, and always is after the handler has returned.
      const isLost = error instanceof YardmasterError && (error.isTemporary || this.#attempt.isOver);
      if (!isLost) throw this.#abortedBy(error as Error);
    }
  }

  progress(report: ProgressReport): void {
    this.#attempt.throwIfOver();
    this.#newest = report;
    if (!this.#isClosed) this.#sending ??= this.#sendProgress();
  }

  async #sendProgress(): Promise<void> {
    while (this.#newest !== null && !this.#isClosed) {
      const newest = this.#newest;
      this.#newest = null;
      this.#inFlight = this.#send({ action: 'progress', ...newest }).catch((error: Error) => {
        const isKnown = isFull(error) || this.#attempt.isOver;
        if (!isKnown) this.#attempt.warn('report', `a progress report was refused: ${error.message}`);
      });
      await this.#inFlight;
      this.#inFlight = null;
      await pause(PROGRESS_MS, this.signal);
    }
    this.#sending = null;
  }

  /** Wait for the progress report that is being sent. @returns the newest unsent one, or null */
  async lastProgress(limitMs: number): Promise<ProgressReport | null> {
    this.#isClosed = true;
    if (this.#inFlight !== null) await within(limitMs, this.#inFlight);
    return this.#newest;
  }
}
