import type { FailRequest, JsonValue, Outcome, Progress, ReleaseRequest, Status } from '@yardmaster/protocol';
import { partitionOfJob } from '../../keys.js';
import { runVerb, withInputs } from '../../script/run-script.js';
import type { VerbInputs } from '../../script/script.js';
import { ack, complete, fail, heartbeat, release } from '../../script/scripts.generated.js';
import { type Caller, placeOfJob, type Store } from '../../store.js';
import { delayOf, msOfSeconds } from '../options.js';
import { storedTokenOf } from '../read/state.js';

// The life of one attempt, as its worker reports it. A call with a delivery token has an effect only for the worker of
// that delivery, and at most one: it may be sent again.

/** The caller of a worker's call. */
export interface Worker extends Caller {
  /** The `deliveryToken` of the claimed job. Without one, any worker with a key may report on the job. */
  deliveryToken?: string | null;
}

async function report(store: Store, worker: Worker, jobId: string, what: Report): Promise<void> {
  const { deliveryToken } = worker;
  const effect = await runVerb(store, placeOfJob(store, worker, jobId), verbOf(store, jobId, deliveryToken, what));
  reportEffect(store, deliveryToken, what.action, effect);
}

/**
 * Move a delivered job to running and open its execution window.
 *
 * @throws JOB_NOT_DELIVERED, JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/workers.md#ack
 */
export const ackJob = (store: Store, worker: Worker, jobId: string) => report(store, worker, jobId, { action: 'ack' });

/** A worker's call that opens the execution window again, and the data that comes with it. */
export type Heartbeat =
  | { kind: 'progress'; data: Progress }
  | { kind: 'checkpoint' | 'event' | 'ephemeral'; data: JsonValue }
  | { kind: 'keepalive' };

/**
 * Open the execution window of a running job again, and store the worker's data. The record keeps the latest progress,
 * and the latest checkpoint for the next attempt. The history gets progress, checkpoint and event, and
 * nothing of a keepalive or of an ephemeral event, which only streams get.
 *
 * @throws JOB_KILLED, JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE; STORAGE_FULL unless
 *   nothing is stored
 * @see docs/api/workers.md#heartbeats
 */
export function heartbeatJob(store: Store, worker: Worker, jobId: string, beat: Heartbeat): Promise<void> {
  if (beat.kind === 'keepalive') return report(store, worker, jobId, { action: 'keepalive' });
  if (beat.kind === 'progress') return report(store, worker, jobId, { action: 'progress', ...beat.data });
  return report(store, worker, jobId, { action: beat.kind, data: beat.data });
}

/**
 * End a running job with its result, and enqueue its callback.
 *
 * @throws JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/workers.md#complete
 */
export const completeJob = (store: Store, worker: Worker, jobId: string, result: JsonValue) =>
  report(store, worker, jobId, { action: 'complete', result });

/**
 * Fail the attempt of a running job. While retries remain, the job is pending again at the end of the queue, or scheduled
 * for its next attempt; else it is dead.
 *
 * @throws JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/workers.md#fail
 */
export const failJob = (
  store: Store,
  worker: Worker,
  jobId: string,
  { error, retryable = true, retryAfterSeconds = null }: Pick<FailRequest, 'error'> & Partial<FailRequest>,
) => report(store, worker, jobId, { action: 'fail', error, retryable, retryAfterSeconds });

/**
 * Return a delivered or running job to its place in the queue by creation, or put it off for a delay. No attempt is
 * counted. A delivered job whose time to start is over is dead.
 *
 * @throws JOB_NOT_RUNNING, JOB_KILLED, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/workers.md#release
 */
export const releaseJob = (
  store: Store,
  worker: Worker,
  jobId: string,
  { reason = null, delaySeconds = null }: Partial<ReleaseRequest>,
) => report(store, worker, jobId, { action: 'release', reason, delaySeconds });

/** What a worker reports about a job. An ephemeral event is not part of a call with several outcomes. */
export type Report = OmitJob<Outcome> | { action: 'ephemeral'; data: JsonValue };
type OmitJob<O> = O extends Outcome ? Omit<O, 'jobId' | 'deliveryToken'> : never;

/** Return the verb of a report with its arguments. */
export function verbOf(
  { settings, known }: Store,
  jobId: string,
  deliveryToken: string | null | undefined,
  report: Report,
): VerbInputs<Effect> {
  const token = storedTokenOf(deliveryToken);
  const beat = (data = '') =>
    withInputs(heartbeat, { args: { jobId, deliveryToken: token, kind: report.action, data } });
  switch (report.action) {
    case 'ack':
      return withInputs(ack, { args: { jobId, deliveryToken: token } });
    case 'keepalive':
      return beat();
    case 'progress': {
      const { percent, message, subProgress } = report;
      return beat(JSON.stringify({ percent, message, subProgress }));
    }
    case 'checkpoint':
    case 'event':
    case 'ephemeral':
      return beat(JSON.stringify(report.data));
    case 'complete': {
      const mayDiffer = known.spaces.isOnIn(partitionOfJob(jobId), 'retention') ? '1' : '';
      const result = JSON.stringify(report.result);
      return withInputs(complete, { args: { jobId, deliveryToken: token, result, mayDiffer } });
    }
    case 'fail': {
      const { error, retryable, retryAfterSeconds } = report;
      const retryAfterMs = retryAfterSeconds === null ? '' : msOfSeconds(retryAfterSeconds);
      const isRetryable = retryable ? '1' : '0';
      const args = { jobId, deliveryToken: token, errorJson: JSON.stringify(error), isRetryable, retryAfterMs };
      return withInputs(fail, { args: { ...args, random: settings.random() } });
    }
    case 'release': {
      const delay = delayOf({ scheduledFor: null, delaySeconds: report.delaySeconds });
      return withInputs(release, {
        args: { jobId, deliveryToken: token, reason: JSON.stringify(report.reason), delay },
      });
    }
  }
}

/** Decoded reply of the verb of a report. */
export interface Effect {
  outcome?: string;
  attempt?: number;
  status?: Status;
  before?: Status;
  after?: Status;
  space?: string;
  name?: string;
  runMs?: number;
}

/** Report what a worker's call has changed. */
export function reportEffect(
  store: Store,
  deliveryToken: string | null | undefined,
  action: Report['action'],
  effect: Effect,
): void {
  if (effect.outcome === 'UNCHANGED') return;
  const { attempt = 1, status = 'completed', before, after, space: spaceId, name, runMs } = effect;
  // Without a token, a call in an attempt after the first may have been made by an earlier worker.
  if (attempt > 1 && !deliveryToken) store.observer.unfenced();
  if (action === 'ack') store.observer.changed({ from: 'delivered', to: 'running' });
  else if (before !== undefined && after !== undefined)
    store.observer.changed({ from: before, to: after, spaceId, name, by: action });
  else if (runMs !== undefined) store.observer.changed({ from: 'running', to: status, spaceId, name, runMs });
}
