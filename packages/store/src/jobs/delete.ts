import { delete_job } from '../script/scripts.generated.js';
import { runVerb, withInputs } from '../script/verbs.js';
import { type Caller, placeOfJob, type Store } from '../store.js';

/**
 * Remove a job that has ended, with its history and logs. A callback that is still owed is not sent.
 *
 * @throws JOB_NOT_ENDED, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#requeue-copy-delete
 */
export async function deleteJob(store: Store, caller: Caller, jobId: string): Promise<void> {
  const verb = withInputs(delete_job, { args: { jobId } });
  const { before } = await runVerb(store, placeOfJob(store, caller, jobId), verb);
  store.observer.changed({ from: before, to: 'none' });
}
