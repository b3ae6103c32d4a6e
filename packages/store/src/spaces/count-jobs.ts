import { STATUSES, type Status } from '@yardmaster/protocol';
import { runScript } from '../script/run-script.js';
import { count_jobs } from '../script/scripts.generated.js';
import type { Store } from '../store.js';

/** Number of jobs of a space, by status. */
export type StatusCounts = Record<Status, number>;

/**
 * Count the jobs of a space by status, at a cost that does not grow with their number.
 *
 * @returns the counts as of one moment, and that moment: epoch milliseconds, Redis clock
 * @throws UNAVAILABLE
 */
export async function countJobs(store: Store, spaceId: string): Promise<{ at: number; counts: StatusCounts }> {
  const { at, counts } = await runScript(store, count_jobs, {
    keys: { jobs: store.keys.jobs(spaceId) },
    args: { space: store.keys.spaceBase(spaceId) },
  });
  return { at, counts: Object.fromEntries(STATUSES.map((status, i) => [status, counts[i]])) as StatusCounts };
}
