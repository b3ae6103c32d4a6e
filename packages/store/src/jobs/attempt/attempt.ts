import type { JsonObject, JsonValue, Progress } from '@yardmaster/protocol';
import { runScript } from '../../script/run-script.js';
import { ack, complete, fail, heartbeat } from '../../script/scripts.generated.js';
import { type Caller, jobScriptInputs, type Store } from '../../store.js';

// The life of one attempt, as its worker reports it.

/**
 * Move a delivered job to running and open its execution window.
 *
 * @throws JOB_NOT_DELIVERED, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see spec §3 rule 1, §4.8
 */
export async function ackJob(store: Store, caller: Caller, jobId: string): Promise<void> {
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  await runScript(store, ack, { keys, args: { eventsPerJob: store.settings.eventsPerJob, ...args } });
  store.observer.moved('delivered', 'running', 1);
}

/** A worker's call that opens the execution window again, and the data that comes with it. */
export type Heartbeat =
  | { kind: 'progress'; data: Progress }
  | { kind: 'checkpoint' | 'event'; data: JsonValue }
  | { kind: 'keepalive' };

/**
 * Open the execution window of a running job again, and store the worker's data. The record keeps the latest progress,
 * and the latest checkpoint for the next attempt. The history gets progress, checkpoint and event; a keepalive writes
 * nothing there.
 *
 * @throws JOB_KILLED, JOB_NOT_RUNNING, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE; STORAGE_FULL unless a keepalive
 * @see spec §3 rules 2 and 3, §4.9–4.11, §4.16
 */
export async function heartbeatJob(store: Store, caller: Caller, jobId: string, beat: Heartbeat): Promise<void> {
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  const data = beat.kind === 'keepalive' ? '' : JSON.stringify(beat.data);
  const { eventsPerJob } = store.settings;
  await runScript(store, heartbeat, { keys, args: { kind: beat.kind, data, eventsPerJob, ...args } });
}

/**
 * End a running job with its result, and enqueue its callback.
 *
 * @throws JOB_NOT_RUNNING, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see spec §4.13
 */
export async function completeJob(store: Store, caller: Caller, jobId: string, result: JsonValue): Promise<void> {
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  const { eventsPerJob, retentionMs } = store.settings;
  await runScript(store, complete, {
    keys,
    args: { result: JSON.stringify(result), eventsPerJob, retentionMs, ...args },
  });
  store.observer.moved('running', 'completed', 1);
}

/**
 * Fail the attempt of a running job. The job is pending again at the end of the queue while retries remain, else dead.
 *
 * @throws JOB_NOT_RUNNING, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see spec §4.14
 */
export async function failJob(store: Store, caller: Caller, jobId: string, error: string | JsonObject): Promise<void> {
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  const { eventsPerJob, retentionMs } = store.settings;
  const { status } = await runScript(store, fail, {
    keys,
    args: { errorJson: JSON.stringify(error), eventsPerJob, retentionMs, ...args },
  });
  store.observer.moved('running', status, 1);
}
