import { STATUSES } from '@yardmaster/protocol';
import { retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, faultOf, repairFlagOf } from '../faults.js';
import { check_orphan } from '../scripts.generated.js';

async function checkOrphan(
  checked: CheckContext,
  at: Omit<Fault, 'kind' | 'repair'>,
  owners: string[],
): Promise<Fault[]> {
  const { state } = await retryUnavailable(() =>
    runScript(checked.store, check_orphan, {
      keys: { key: at.key },
      args: { isRepairing: repairFlagOf(checked) },
      rest: owners,
    }),
  );
  return state === '' ? [] : [faultOf('orphaned', at, state === 'repaired' ? 'repaired' : '')];
}

/** Look for histories and logs whose jobs are gone. A cheap read rules out most of them. */
export async function checkLists(checked: CheckContext, lists: { key: string; jobId: string }[]): Promise<Fault[]> {
  const { store } = checked;
  const faults = await Promise.all(
    lists.map(async ({ key, jobId }) => {
      const job = store.keys.job(jobId);
      if ((await retryUnavailable(() => withRedisErrors(store.redis.exists(job)))) === 1) return [];
      return checkOrphan(checked, { jobId, key, detail: 'the job does not exist' }, [job]);
    }),
  );
  return faults.flat();
}

/** Check whether name counts belong to a space without a job in any index. */
export async function checkLeftNames(checked: CheckContext, spaceId: string): Promise<Fault[]> {
  const { keys } = checked.store;
  const indexes = [
    keys.jobs(spaceId),
    keys.queue(spaceId),
    ...STATUSES.map((status) => keys.jobsByStatus(spaceId, status)),
  ];
  const at = { jobId: null, key: keys.names(spaceId), detail: `${spaceId} has no jobs` };
  return checkOrphan(checked, at, indexes);
}
