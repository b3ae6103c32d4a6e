import { runScript } from '../script/run-script.js';
import { kill } from '../script/scripts.generated.js';
import { type Caller, jobScriptInputs, type Store } from '../store.js';

/**
 * Force-stop a job that has not ended; killing it again succeeds and changes nothing.
 *
 * @throws JOB_ENDED for a completed or dead job; JOB_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 * @see docs/api.md#statuses
 */
export async function killJob(store: Store, caller: Caller, jobId: string, reason: string | null): Promise<void> {
  const { keys, args } = jobScriptInputs(store, caller, jobId);
  const { eventsPerJob, retentionMs } = store.settings;
  const { before, space, name } = await runScript(store, kill, {
    keys,
    args: { reason: JSON.stringify(reason), eventsPerJob, retentionMs, ...args },
  });
  if (before === 'killed') return;
  store.observer.moved(before, 'killed', 1);
  store.tally.counted(space, name, 'killed');
}
