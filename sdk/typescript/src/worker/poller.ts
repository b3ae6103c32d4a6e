import { Backoff, pause } from '../backoff.js';
import { send, spacePath } from '../client/transport.js';
import { YardmasterError } from '../errors.js';
import type { Poll, PolledJobs } from '../wire.generated.js';
import { beginJobs } from './claimed.js';
import type { Health } from './health.js';
import { FAILURES_BEFORE_WARNING, type Report } from './outbox.js';
import type { Session } from './session.js';

const WAIT_SECONDS = 20;
/** How long to collect free slots, so that one poll claims jobs for several. Shorter than for outcomes. */
const COLLECT_MS = 2;
/** Maximum number of jobs per poll. */
const MOST_JOBS = 50;

/** Claims jobs while there are free slots, one call at a time. */
export class Poller {
  readonly #workerId: string;
  readonly #health: Health;

  constructor(workerId: string, health: Health) {
    this.#workerId = workerId;
    this.#health = health;
  }

  /** Poll until the signal is aborted. */
  async run(session: Session, signal: AbortSignal): Promise<void> {
    let backoff = new Backoff();
    while (await hasSlot(session, signal)) {
      const reports = session.outbox.take();
      try {
        const { jobs, settled = [] } = await this.#poll(session, reports, signal);
        backoff = new Backoff();
        session.outbox.answered(reports, settled);
        beginJobs(session, jobs);
      } catch (error) {
        session.outbox.answered(reports, signal.aborted ? LOST : (error as Error));
        if (signal.aborted) return;
        if (isFinal(error, reports)) return session.fail(error as Error);
        if (backoff.failures === FAILURES_BEFORE_WARNING)
          session.warn({ kind: 'unavailable', message: `polls fail: ${(error as Error).message}`, jobIds: [] });
        await pause(backoff.next(error), signal);
      }
    }
  }

  /**
   * A poll with outcomes doesn't wait for a job, so that the outcomes are confirmed immediately. The next poll waits.
   */
  async #poll(session: Session, reports: readonly Report[], signal: AbortSignal): Promise<PolledJobs> {
    const { autoAck } = session.options;
    const waitSeconds = reports.length === 0 ? WAIT_SECONDS : 0;
    const poll: Poll = {
      types: session.names,
      count: Math.min(session.slots, MOST_JOBS),
      workerId: this.#workerId,
      ...(autoAck && { autoAck }),
      ...(waitSeconds > 0 ? { waitSeconds } : { settle: reports.map(({ outcome }) => outcome) }),
    };
    this.#health.asked();
    const request = {
      method: 'POST',
      path: spacePath(session.target, '/jobs/poll'),
      body: JSON.stringify(poll),
      waitMs: waitSeconds * 1_000,
    } as const;
    const polled = await send<PolledJobs>(session.target, request, signal);
    this.#health.answered();
    return polled;
  }
}

const LOST = new YardmasterError('NO_RESPONSE', 'The worker is shutting down');

async function hasSlot(session: Session, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && session.slots <= 0) await session.freed.wait(signal);
  if (session.slots < session.options.concurrency) await pause(COLLECT_MS, signal);
  return !signal.aborted;
}

/**
 * Whether a retry of a poll is pointless. A poll with outcomes may be refused because of them, so it is tried without.
 */
function isFinal(error: unknown, reports: readonly Report[]): boolean {
  if (!(error instanceof YardmasterError)) return true;
  return !error.isTemporary && (reports.length === 0 || error.isOfKey);
}
