import { kill } from '../script/scripts.generated.js';
import { runVerb, withInputs } from '../script/verbs.js';
import { type Caller, placeOfJob, type Store } from '../store.js';

/**
 * Force-stop a job that has not ended; killing it again succeeds and changes nothing.
 *
 * @throws JOB_ENDED for a completed or dead job; JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#statuses
 */
export async function killJob(store: Store, caller: Caller, jobId: string, reason: string | null): Promise<void> {
  const verb = withInputs(kill, { args: { jobId, reason: JSON.stringify(reason) } });
  const { before, space, name } = await runVerb(store, placeOfJob(store, caller, jobId), verb);
  if (before !== 'killed') store.observer.changed({ from: before, to: 'killed', spaceId: space, name });
}
