import { YardmasterError } from '@yardmaster/protocol';
import { isJobId } from './partition.js';
import type { Caller, Store } from './store.js';

/**
 * Build the inputs that every script on one job shares.
 *
 * @throws JOB_NOT_FOUND for a text that no job can have as its id
 */
export function jobScriptInputs(store: Store, caller: Caller, jobId: string) {
  if (!isJobId(jobId)) throw new YardmasterError('JOB_NOT_FOUND');
  return {
    keys: { job: store.keys.job(jobId) },
    args: { base: store.keys.baseOfJob(jobId), jobId, keySpaceId: caller.spaceId ?? '' },
  };
}
