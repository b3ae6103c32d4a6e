import { type RequeueRequest, YardmasterError } from '@yardmaster/protocol';
import { runScript } from '../script/run-script.js';
import { requeue } from '../script/scripts.generated.js';
import { type Caller, jobScriptInputs, type Store } from '../store.js';
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
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  const reply = await runScript(store, requeue, {
    keys,
    args: {
      delay: delayOf({ scheduledFor: null, delaySeconds }),
      isDryRun: '',
      eventsPerJob: store.settings.eventsPerJob,
      ...args,
    },
  });
  if (reply.outcome === 'NOT_UNIQUE') {
    throw new YardmasterError('JOB_NOT_UNIQUE', undefined, { jobId: reply.id, jobStatus: reply.status });
  }
  store.observer.moved(reply.before, reply.after, 1);
}
