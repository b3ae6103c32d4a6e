import { type RequeueRequest, YardmasterError } from '@yardmaster/protocol';
import { requeue } from '../script/scripts.generated.js';
import { runVerb, withInputs } from '../script/verbs.js';
import { type Caller, placeOfJob, type Store } from '../store.js';
import { delayOf } from './timing.js';

/**
 * Put a dead or killed job back in the queue, with all of its attempts ahead: at its end, or after a delay.
 *
 * @throws JOB_NOT_DEAD, JOB_NOT_UNIQUE, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#requeue-copy-delete
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
