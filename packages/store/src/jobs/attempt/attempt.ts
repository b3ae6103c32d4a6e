import type { FailRequest, JsonValue, Outcome, Progress, ReleaseRequest, Status } from '@yardmaster/protocol';
import { partitionOfJob } from '../../keys.js';
import { runVerb, withInputs } from '../../script/run-script.js';
import type { VerbInputs } from '../../script/script.js';
import { ack, complete, fail, heartbeat, release } from '../../script/scripts.generated.js';
import { type Caller, placeOfJob, type Store } from '../../store.js';
import { delayOf, msOfSeconds } from '../options.js';
import { storedTokenOf } from '../read/state.js';

// The calls of a worker during an attempt. A call with a delivery token takes effect only for the worker of that delivery,
// and at most once, so a worker can retry it.

/** A caller that reports on a job. */
export interface Worker extends Caller {
  /** The `deliveryToken` of the claimed job. Without it, any worker with an API key can report on the job. */
  deliveryToken?: string | null;
}

async function report(store: Store, worker: Worker, jobId: string, what: Report): Promise<void> {
  const { deliveryToken } = worker;
  const effect = await runVerb(store, placeOfJob(store, worker, jobId), verbOf(store, jobId, deliveryToken, what));
  reportEffect(store, deliveryToken, what.action, effect);
}

/**
 * Mark a delivered job as running, and open its execution window.
 *
 * @throws JOB_NOT_DELIVERED, JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/workers.md#ack
 */
export const ackJob = (store: Store, worker: Worker, jobId: string) => report(store, worker, jobId, { action: 'ack' });

/** A worker's call that restarts the execution window, with its data. */
export type Heartbeat =
  | { kind: 'progress'; data: Progress }
  | { kind: 'checkpoint' | 'event' | 'ephemeral'; data: JsonValue }
  | { kind: 'keepalive' };

/**
 * Restart the execution window of a running job, and store the worker's data. The record keeps the latest progress and the
 * latest checkpoint. Progress, checkpoints and events are also added to the history. A keepalive stores nothing, and
 * neither does an ephemeral event, which goes to streams only.
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
 * Complete a running job with its result, and enqueue its callback.
 *
 * @throws JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/workers.md#complete
 */
export const completeJob = (store: Store, worker: Worker, jobId: string, result: JsonValue) =>
  report(store, worker, jobId, { action: 'complete', result });

/**
 * Fail the attempt of a running job. While retries remain, the job goes to the end of the queue or is scheduled for its
 * next attempt; otherwise it is dead.
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
 * Return a delivered or running job to its place in the queue, or schedule it after a delay. The attempt does not count.
 * A delivered job whose start limit has passed is dead.
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

/** A worker's report about a job: an outcome, or an ephemeral event, which a batch call cannot contain. */
export type Report = OmitJob<Outcome> | { action: 'ephemeral'; data: JsonValue };
type OmitJob<O> = O extends Outcome ? Omit<O, 'jobId' | 'deliveryToken'> : never;

/** Bind the verb of a report to its arguments. */
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

/** The decoded reply to a report. */
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

/** Report the effect of a worker's call to the observer. */
export function reportEffect(
  store: Store,
  deliveryToken: string | null | undefined,
  action: Report['action'],
  effect: Effect,
): void {
  if (effect.outcome === 'UNCHANGED') return;
  const { attempt = 1, status = 'completed', before, after, space: spaceId, name, runMs } = effect;
  // Without a token, a call in a second or later attempt may come from an earlier worker.
  if (attempt > 1 && !deliveryToken) store.observer.unfenced();
  if (action === 'ack') store.observer.changed({ from: 'delivered', to: 'running' });
  else if (before !== undefined && after !== undefined)
    store.observer.changed({ from: before, to: after, spaceId, name, by: action });
  else if (runMs !== undefined) store.observer.changed({ from: 'running', to: status, spaceId, name, runMs });
}
