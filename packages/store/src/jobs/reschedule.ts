import type { RescheduleRequest } from '@yardmaster/protocol';
import { runScript } from '../script/run-script.js';
import { reschedule } from '../script/scripts.generated.js';
import { type Caller, jobScriptInputs, type Store } from '../store.js';
import { delayOf } from './timing.js';

/**
 * Give a scheduled or pending job another time, or put it at the end of the queue.
 *
 * @throws JOB_NOT_PENDING, JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/retries.md#schedule
 */
export async function rescheduleJob(
  store: Store,
  caller: Caller,
  jobId: string,
  { priority, ...schedule }: RescheduleRequest,
): Promise<void> {
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  const { eventsPerJob } = store.settings;
  const { before, after } = await runScript(store, reschedule, {
    keys,
    args: { delay: delayOf(schedule), priority: priority ?? '', eventsPerJob, ...args },
  });
  if (before !== after) store.observer.moved(before, after, 1);
}
