import type { FailRequest, JsonValue, Progress, ReleaseRequest } from '@yardmaster/protocol';
import { partitionOfJob } from '../../partition.js';
import { runScript } from '../../script/run-script.js';
import { ack, complete, fail, heartbeat, release } from '../../script/scripts.generated.js';
import { type Caller, jobScriptInputs, type Store } from '../../store.js';
import { storedTokenOf } from '../read/state.js';
import { failArgs, releaseArgs, reportEffect } from './outcomes.js';

// The life of one attempt, as its worker reports it. A call with a delivery token has an effect only for the worker of
// that delivery, and at most one: it may be sent again.

/** The caller of a worker's call. */
export interface Worker extends Caller {
  /** The `deliveryToken` of the claimed job. Without one, any worker with a key may report on the job. */
  deliveryToken?: string | null;
}

/** Build the inputs that all scripts of an attempt share. @throws JOB_NOT_FOUND */
function attemptInputs(store: Store, worker: Worker, jobId: string) {
  const { keys, args } = jobScriptInputs(store, worker, jobId);
  const { eventsPerJob } = store.settings;
  return { keys, args: { deliveryToken: storedTokenOf(worker.deliveryToken), eventsPerJob, ...args } };
}

/**
 * Move a delivered job to running and open its execution window.
 *
 * @throws JOB_NOT_DELIVERED, JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#while-a-job-runs
 */
export async function ackJob(store: Store, worker: Worker, jobId: string): Promise<void> {
  const reply = await runScript(store, ack, attemptInputs(store, worker, jobId));
  reportEffect(store, worker, 'ack', reply);
}

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
 * @see docs/api.md#while-a-job-runs
 */
export async function heartbeatJob(store: Store, worker: Worker, jobId: string, beat: Heartbeat): Promise<void> {
  const { keys, args } = attemptInputs(store, worker, jobId);
  const data = beat.kind === 'keepalive' ? '' : JSON.stringify(beat.data);
  const reply = await runScript(store, heartbeat, { keys, args: { kind: beat.kind, data, ...args } });
  reportEffect(store, worker, beat.kind === 'ephemeral' ? 'event' : beat.kind, reply);
}

/**
 * End a running job with its result, and enqueue its callback.
 *
 * @throws JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#while-a-job-runs
 */
export async function completeJob(store: Store, worker: Worker, jobId: string, result: JsonValue): Promise<void> {
  const { keys, args } = attemptInputs(store, worker, jobId);
  const { retentionMs } = store.settings;
  const mayDiffer = store.spaceSettings.isOnIn(partitionOfJob(jobId), 'retention') ? '1' : '';
  const reply = await runScript(store, complete, {
    keys,
    args: { result: JSON.stringify(result), retentionMs, mayDiffer, ...args },
  });
  reportEffect(store, worker, 'complete', reply);
}

/**
 * Fail the attempt of a running job. While retries remain, the job is pending again at the end of the queue, or scheduled
 * for its next attempt; else it is dead.
 *
 * @throws JOB_NOT_RUNNING, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#while-a-job-runs
 */
export async function failJob(
  store: Store,
  worker: Worker,
  jobId: string,
  { error, retryable = true, retryAfterSeconds = null }: Pick<FailRequest, 'error'> & Partial<FailRequest>,
): Promise<void> {
  const { keys, args } = attemptInputs(store, worker, jobId);
  const { retentionMs } = store.settings;
  const reply = await runScript(store, fail, {
    keys,
    args: {
      ...failArgs({ error, retryable, retryAfterSeconds }),
      random: store.random(),
      retentionMs,
      ...args,
    },
  });
  reportEffect(store, worker, 'fail', reply);
}

/**
 * Return a delivered or running job to its place in the queue by creation, or put it off for a delay. No attempt is
 * counted. A delivered job whose time to start is over is dead.
 *
 * @throws JOB_NOT_RUNNING, JOB_KILLED, DELIVERY_LOST, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#while-a-job-runs
 */
export async function releaseJob(
  store: Store,
  worker: Worker,
  jobId: string,
  { reason = null, delaySeconds = null }: Partial<ReleaseRequest>,
): Promise<void> {
  const { keys, args } = attemptInputs(store, worker, jobId);
  const { retentionMs } = store.settings;
  const reply = await runScript(store, release, {
    keys,
    args: { ...releaseArgs({ reason, delaySeconds }), retentionMs, ...args },
  });
  reportEffect(store, worker, 'release', reply);
}
