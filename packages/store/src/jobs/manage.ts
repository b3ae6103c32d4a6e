import { type RequeueRequest, type RescheduleRequest, YardmasterError } from '@yardmaster/protocol';
import { runVerb, withInputs } from '../script/run-script.js';
import { delete_job, kill, requeue, reschedule } from '../script/scripts.generated.js';
import { type Caller, placeOfJob, type Store } from '../store.js';
import { delayOf } from './options.js';

/**
 * Force-stop a job that has not ended; killing it again succeeds and changes nothing.
 *
 * @returns whether it was not killed before
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
 * Remove a job that has ended, with its history and logs. A callback that is still owed is not sent.
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
 * Put a dead or killed job back in the queue, with all of its attempts ahead: at its end, or after a delay.
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
 * Give a scheduled or pending job another time, or put it at the end of the queue.
 *
 * @throws JOB_NOT_PENDING, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/scheduling.md#reschedule
 */
export async function rescheduleJob(
  store: Store,
  caller: Caller,
  jobId: string,
  { priority, ...schedule }: RescheduleRequest,
): Promise<void> {
  const args = { jobId, delay: delayOf(schedule), priority: priority ?? '' };
  const { before, after } = await runVerb(store, placeOfJob(store, caller, jobId), withInputs(reschedule, { args }));
  store.observer.changed({ from: before, to: after });
}
