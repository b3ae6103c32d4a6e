import { type CopyRequest, type Job, YardmasterError } from '@yardmaster/protocol';
import { newJobIdIn, partitionOfJob } from '../../keys.js';
import { runScript } from '../../script/run-script.js';
import { copy } from '../../script/scripts.generated.js';
import { type Caller, inputsForJob, notAfterOf, type Store } from '../../store.js';
import { jobOf, recordOf } from '../read/record.js';

/** Fields that a copy takes from the other job: not its times, keys and reports. */
const COPIED_FIELDS = [
  'payload',
  'callbackUrl',
  'callbackHeaders',
  'callbackOn',
  'retry',
  'maxRunSeconds',
  'startWithinSeconds',
  'priority',
  'tags',
] as const;

/**
 * Create a job with the name and options of another job, which can have any status. The copy is pending and has no unique
 * key.
 *
 * @param request.payload undefined to copy the payload of the other job
 * @throws JOB_NOT_FOUND, FORBIDDEN, SPACE_FULL, STORAGE_UNSAFE, STORAGE_FULL, OVERLOADED, UNAVAILABLE
 * @see docs/api/manage.md#copy
 */
export async function copyJob(store: Store, caller: Caller, jobId: string, { payload }: CopyRequest): Promise<Job> {
  const { keys, args } = inputsForJob(store, caller, jobId);
  if (!store.known.isStorageSafe) throw new YardmasterError('STORAGE_UNSAFE');
  const copyId = newJobIdIn(partitionOfJob(jobId));
  const { record } = await runScript(store, copy, {
    keys,
    args: {
      copyId,
      payload: payload === undefined ? '' : JSON.stringify(payload),
      notAfter: notAfterOf(store),
      ...args,
    },
    rest: COPIED_FIELDS,
  });
  const job = jobOf(copyId, recordOf(record));
  store.observer.changed({ from: 'none', to: 'pending', spaceId: job.spaceId, name: job.name });
  return job;
}
