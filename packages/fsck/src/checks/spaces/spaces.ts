import { membersOf, retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, faultOf, repairFlagOf } from '../../faults.js';
import { check_spaces } from '../../scripts.generated.js';

/** Look for listed spaces of a partition that have no job. */
export async function checkSpaces(checked: CheckContext, partition: string): Promise<Fault[]> {
  const { store } = checked;
  const key = store.keys.spaces(partition);
  const faults: Fault[] = [];
  // A wrong type has already been reported.
  if ((await retryUnavailable(() => withRedisErrors(store.redis.type(key)))) !== 'zset') return [];
  for await (const ids of membersOf(store.redis, key)) {
    const { empty } = await retryUnavailable(() =>
      runScript(store, check_spaces, {
        keys: { spaces: key },
        args: { base: store.keys.baseOf(partition), isRepairing: repairFlagOf(checked) },
        rest: ids,
      }),
    );
    for (let i = 0; i < empty.length; i += 2) {
      const detail = `${empty[i]} has no jobs`;
      faults.push(faultOf('space_empty', { jobId: null, key, detail }, empty[i + 1] as string));
    }
  }
  return faults;
}
