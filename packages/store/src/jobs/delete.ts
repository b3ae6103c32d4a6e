import { runScript } from '../script/run-script.js';
import { delete_job } from '../script/scripts.generated.js';
import { type Caller, jobScriptInputs, type Store } from '../store.js';

/**
 * Remove a job that has ended, with its history and logs. A callback that is still owed is not sent.
 *
 * @throws JOB_NOT_ENDED, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#requeue-copy-delete
 */
export async function deleteJob(store: Store, caller: Caller, jobId: string): Promise<void> {
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  const { before } = await runScript(store, delete_job, { keys, args });
  store.observer.moved(before, 'none', 1);
}
