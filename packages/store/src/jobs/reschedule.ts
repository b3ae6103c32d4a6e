import type { RescheduleRequest } from '@yardmaster/protocol';
import { reschedule } from '../script/scripts.generated.js';
import { runVerb, withInputs } from '../script/verbs.js';
import { type Caller, placeOfJob, type Store } from '../store.js';
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
  const args = { jobId, delay: delayOf(schedule), priority: priority ?? '' };
  const { before, after } = await runVerb(store, placeOfJob(store, caller, jobId), withInputs(reschedule, { args }));
  store.observer.changed({ from: before, to: after });
}
