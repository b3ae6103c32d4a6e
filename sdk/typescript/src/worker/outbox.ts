import { Backoff, pause } from '../backoff.js';
import type { Target } from '../client/transport.js';
import { refusalIn, YardmasterError } from '../errors.js';
import type { Outcome, Settled } from '../wire.generated.js';
import { failureIn, MOST_OUTCOMES, settle, settleEach } from './settle.js';
import type { OnWarning } from './warnings.js';

/** How long to collect outcomes, so that one call carries several. */
const COLLECT_MS = 5;
/** Maximum outcomes and bytes of a settle call and of a poll. The service accepts 5 MB and 1 MB. */
const SETTLE = { count: MOST_OUTCOMES, bytes: 3_000_000 };
const TURN = { count: 50, bytes: 500_000 };
/** Number of failures of a call after which the worker warns. */
export const FAILURES_BEFORE_WARNING = 3;

/** Passed to `done` if the worker stopped before a report was stored. */
export const STOPPED = new Error('The worker has stopped');

/** An outcome to send to the service. */
export interface Report {
  outcome: Outcome;
  /** Called once: with null if the outcome is stored, otherwise with the refusal or STOPPED. */
  done(error: Error | null): void;
}

/**
 * Sends outcomes until the service has accepted or refused each of them.
 *
 *     add → queue ─ next poll ──────┬─ accepted or refused → done
 *                 └ settle, ≤ 5 ms ─┘  no answer → settle again, with backoff
 */
export class Outbox {
  readonly #target: Target;
  readonly #warn: OnWarning;
  readonly #fail: (error: Error) => void;
  readonly #changed: () => void;
  readonly #stopping = new AbortController();
  #queue: { report: Report; bytes: number }[] = [];
  #pending = 0;
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param fail ends the worker if the key is refused
   * @param changed is called when a report is done
   */
  constructor(target: Target, handlers: { warn: OnWarning; fail: (error: Error) => void; changed: () => void }) {
    this.#target = target;
    this.#warn = handlers.warn;
    this.#fail = handlers.fail;
    this.#changed = handlers.changed;
  }

  /** Whether every report is done. */
  get isEmpty(): boolean {
    return this.#pending === 0;
  }

  /** Stop sending. Unfinished reports get STOPPED. */
  stop(): void {
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { report } of this.#queue.splice(0)) this.#finish(report, STOPPED);
  }

  /** Queue reports, and send them in order. */
  add(...reports: Report[]): void {
    // A report that JSON can't represent throws here, before anything has changed.
    const sized = reports.map((report) => ({ report, bytes: JSON.stringify(report.outcome).length }));
    this.#queue.push(...sized);
    this.#pending += reports.length;
    this.#timer ??= setTimeout(() => this.#flush(), COLLECT_MS);
  }

  /** Send reports in a separate call. */
  sendNow(reports: Report[]): void {
    this.#pending += reports.length;
    void this.#deliver(reports);
  }

  /** Take reports out of the queue for a poll. */
  take(): Report[] {
    return this.#takeSome(TURN);
  }

  /** Finish the reports that a poll carried, or send them again if it failed. */
  answered(reports: Report[], response: Settled[] | Error): void {
    if (reports.length === 0) return;
    if (response instanceof Error) void this.#deliver(reports, response);
    else if (response.length === reports.length) void this.#deliver(...this.#accept(reports, response));
    else
      void this.#deliver(
        reports,
        new YardmasterError('NO_RESPONSE', 'The response does not have one entry per outcome'),
      );
  }

  #flush(): void {
    this.#timer = null;
    while (this.#queue.length > 0) void this.#deliver(this.#takeSome(SETTLE));
  }

  #takeSome({ count, bytes }: typeof TURN): Report[] {
    let taken = 0;
    let size = 0;
    while (taken < Math.min(this.#queue.length, count)) {
      size += this.#queue[taken]?.bytes ?? 0;
      if (size > bytes && taken > 0) break;
      taken++;
    }
    return this.#queue.splice(0, taken).map(({ report }) => report);
  }

  /** Send reports until each is done. @param error a failure to wait for first */
  async #deliver(reports: Report[], error: Error | null = null): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = new Backoff();
    let [left, failure] = [reports, error];
    while (left.length > 0) {
      if (failure instanceof YardmasterError && !failure.isTemporary) return this.#refused(left, failure);
      if (failure !== null) await this.#waitAfter(failure, backoff, left);
      if (signal.aborted) {
        for (const report of left) this.#finish(report, STOPPED);
        return;
      }
      [left, failure] = await this.#settle(left);
    }
  }

  async #waitAfter(failure: Error, backoff: Backoff, left: readonly Report[]): Promise<void> {
    if (backoff.failures === FAILURES_BEFORE_WARNING) {
      const message = `reports fail and are retried: ${failure.message}`;
      this.#warn({ kind: 'unavailable', message, jobIds: left.map(({ outcome }) => outcome.jobId) });
    }
    await pause(backoff.next(failure), this.#stopping.signal);
  }

  /** Make one call with reports. @returns the reports to send again, and why */
  async #settle(reports: Report[]): Promise<[Report[], Error | null]> {
    try {
      const outcomes = reports.map(({ outcome }) => outcome);
      return this.#accept(reports, await settle(this.#target, outcomes, this.#stopping.signal));
    } catch (error) {
      return [reports, error as Error];
    }
  }

  /** Finish reports according to their entries. @returns the reports to send again, and why */
  #accept(reports: Report[], entries: Settled[]): [Report[], Error | null] {
    let why: Error | null = null;
    const again = reports.filter((report, i) => {
      const entry = entries[i] as Settled;
      const failure = failureIn(entry);
      if (failure === null) this.#finish(report, entry.success ? null : refusalIn(entry));
      else why = failure;
      return failure !== null;
    });
    return [again, why];
  }

  /** Send each report alone, because one of them is invalid and the whole call was refused. */
  async #refused(reports: Report[], refusal: YardmasterError): Promise<void> {
    if (refusal.isOfKey) for (const report of reports) this.#finish(report, refusal);
    else {
      const { signal } = this.#stopping;
      const done = (report: Report, error: Error | null) =>
        this.#finish(report, error !== null && signal.aborted ? STOPPED : error);
      await settleEach(this.#target, reports, signal, done);
    }
  }

  #finish(report: Report, error: Error | null): void {
    this.#pending--;
    if (error instanceof YardmasterError && error.isOfKey) this.#fail(error);
    report.done(error);
    this.#changed();
  }
}
