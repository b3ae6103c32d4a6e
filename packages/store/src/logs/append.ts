import { type AppendedLogs, YardmasterError } from '@yardmaster/protocol';
import { runScript } from '../script/run-script.js';
import { append_logs } from '../script/scripts.generated.js';
import { onBulk } from '../script/verbs.js';
import { type Caller, inputsForJob, type Store } from '../store.js';
import type { PackedLog } from './entry.js';

/**
 * Append a batch to a job's logs, all of it or nothing. The oldest entries above the limit are dropped, and seqs
 * continue.
 *
 * @param logs 1 to 5,000 entries
 * @throws JOB_NOT_FOUND, FORBIDDEN, STORAGE_FULL, UNAVAILABLE
 * @see docs/logs.md#append
 */
export async function appendLogs(
  store: Store,
  caller: Caller,
  jobId: string,
  logs: readonly PackedLog[],
): Promise<AppendedLogs> {
  const { keys, args } = inputsForJob(store, caller, jobId);
  const { lastSeq: toSeq } = await runScript(onBulk(store), append_logs, {
    keys,
    args,
    rest: logs,
  }).catch((error) => {
    if (error instanceof YardmasterError && error.code === 'STORAGE_FULL') store.observer.refusedLogs();
    throw error;
  });
  store.observer.logged(logs.length);
  return { success: true, inserted: logs.length, fromSeq: toSeq - logs.length + 1, toSeq };
}
