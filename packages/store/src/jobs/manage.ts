import { type RequeueRequest, type RescheduleRequest, YardmasterError } from '@yardmaster/protocol';
import { runVerb, withInputs } from '../script/run-script.js';
import { delete_job, kill, requeue, reschedule } from '../script/scripts.generated.js';
import { type Caller, placeOfJob, type Store } from '../store.js';
import { delayOf } from './options.js';

/**
 * Kill a job that has not ended. Killing a killed job succeeds and changes nothing.
 *
 * @returns false if the job was already killed
 * @throws JOB_ENDED for a completed or dead job; JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/manage.md#kill
 */
export async function killJob(store: Store, caller: Caller, jobId: string, reason: string | null): Promise<boolean> {
  const verb = withInputs(kill, { args: { jobId, reason: JSON.stringify(reason) } });
  const { before, space, name } = await runVerb(store, placeOfJob(store, caller, jobId), verb);
  if (before === 'killed') return false;
  store.observer.changed({ from: before, to: 'killed', spaceId: space, name });
  return true;
}

/**
 * Delete an ended job with its history and logs. Its pending callback is dropped.
 *
 * @throws JOB_NOT_ENDED, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/manage.md#delete
 */
export async function deleteJob(store: Store, caller: Caller, jobId: string): Promise<void> {
  const verb = withInputs(delete_job, { args: { jobId } });
  const { before } = await runVerb(store, placeOfJob(store, caller, jobId), verb);
  store.observer.changed({ from: before, to: 'none' });
}

/**
 * Put a dead or killed job back at the end of the queue, or schedule it after a delay. All retries are available again.
 *
 * @throws JOB_NOT_DEAD, JOB_NOT_UNIQUE, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api/manage.md#requeue
 */
export async function requeueJob(
  store: Store,
  caller: Caller,
  jobId: string,
  { delaySeconds }: RequeueRequest,
): Promise<void> {
  const args = { jobId, delay: delayOf({ scheduledFor: null, delaySeconds }), isDryRun: '' };
  const reply = await runVerb(store, placeOfJob(store, caller, jobId), withInputs(requeue, { args }));
  if (reply.outcome === 'NOT_UNIQUE') {
    throw new YardmasterError('JOB_NOT_UNIQUE', undefined, { jobId: reply.id, jobStatus: reply.status });
  }
  store.observer.changed({ from: reply.before, to: reply.after });
}

/**
 * Change when a scheduled or pending job becomes claimable, or put it at the end of the queue.
 *
 * @throws JOB_NOT_PENDING, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/scheduling.md#reschedule
 */
export async function rescheduleJob(
  store: Store,
  caller: Caller,
  jobId: string,
  { priority, ...startTime }: RescheduleRequest,
): Promise<void> {
  const args = { jobId, delay: delayOf(startTime), priority: priority ?? '' };
  const { before, after } = await runVerb(store, placeOfJob(store, caller, jobId), withInputs(reschedule, { args }));
  store.observer.changed({ from: before, to: after });
}
