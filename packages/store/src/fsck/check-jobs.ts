import { runScript } from '../script.js';
import { check_jobs } from '../scripts.generated.js';
import { type Checked, flagOf } from './checked.js';
import { type Fault, type FaultKind, faultOf } from './faults.js';
import { patiently } from './walk.js';

/** Jobs examined by one script: some 1 ms of Redis. */
const JOBS_AT_ONCE = 50;

/** Compare the records of jobs with all indexes and with their histories, each as of one moment. */
export async function checkJobs(checked: Checked, partition: string, jobIds: readonly string[]): Promise<Fault[]> {
  const { store } = checked;
  const { deliveryTimeoutMs, retentionMs } = store.settings;
  const faults: Fault[] = [];
  for (let i = 0; i < jobIds.length; i += JOBS_AT_ONCE) {
    const [, ...faulty] = (await patiently(() =>
      runScript(store, check_jobs, {
        keys: { deadlines: store.keys.deadlines(partition) },
        args: { base: store.keys.baseOf(partition), isMending: flagOf(checked), deliveryTimeoutMs, retentionMs },
        rest: jobIds.slice(i, i + JOBS_AT_ONCE),
      }),
    )) as ['OK', ...[jobId: string, flat: string[]][]];
    for (const [jobId, flat] of faulty) {
      for (const [kind, key, detail, outcome] of inFours(flat)) {
        // Its space's order is no matter of the one job that it was found with, and so is told once.
        const about = kind.startsWith('space_') ? null : jobId;
        faults.push(faultOf(kind as FaultKind, { jobId: about, key, detail }, outcome));
      }
    }
  }
  return faults;
}

function* inFours(flat: string[]): Generator<[string, string, string, string]> {
  for (let i = 0; i < flat.length; i += 4) yield flat.slice(i, i + 4) as [string, string, string, string];
}
