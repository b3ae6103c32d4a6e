import { retryUnavailable } from '@yardmaster/redis';
import { partitionOfJob, runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, type FaultKind, faultOf, repairFlagOf } from '../faults.js';
import { check_jobs } from '../scripts.generated.js';

/** Jobs per script, which takes Redis about 1 ms. */
const JOBS_AT_ONCE = 50;

/** Jobs waiting for a full batch of their partition. */
export class JobBatches {
  readonly #byPartition = new Map<string, string[]>();

  /**
   * Add a job.
   *
   * @returns the batch of its partition once it is full; empty before
   */
  add(jobId: string): string[] {
    const partition = partitionOfJob(jobId);
    const ids = this.#byPartition.get(partition) ?? [];
    ids.push(jobId);
    this.#byPartition.set(partition, ids.length < JOBS_AT_ONCE ? ids : []);
    return ids.length < JOBS_AT_ONCE ? [] : ids;
  }

  /** Return the jobs that are still waiting, by partition. */
  rest(): string[][] {
    return [...this.#byPartition.values()].filter((ids) => ids.length > 0);
  }
}

/**
 * Compare the records of jobs with all indexes and with their histories, in one snapshot.
 *
 * @param jobIds at most 50, of one partition
 */
export async function checkJobs(checked: CheckContext, jobIds: readonly string[]): Promise<Fault[]> {
  const { store } = checked;
  const partition = partitionOfJob(jobIds[0] as string);
  const faults: Fault[] = [];
  const { jobs } = await retryUnavailable(() =>
    runScript(store, check_jobs, {
      keys: { deadlines: store.keys.deadlines(partition) },
      args: { base: store.keys.baseOf(partition), isRepairing: repairFlagOf(checked) },
      rest: jobIds,
    }),
  );
  for (const [jobId = '', ...flat] of jobs) {
    for (const [kind, key, detail, outcome] of inFours(flat)) {
      // A fault in the order of a space is not about the job that revealed it, so it is reported once, without a job.
      const about = kind.startsWith('space_') ? null : jobId;
      faults.push(faultOf(kind as FaultKind, { jobId: about, key, detail }, outcome));
    }
  }
  return faults;
}

function* inFours(flat: string[]): Generator<[string, string, string, string]> {
  for (let i = 0; i < flat.length; i += 4) yield flat.slice(i, i + 4) as [string, string, string, string];
}
