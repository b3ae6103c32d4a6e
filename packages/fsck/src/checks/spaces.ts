import { membersOf, patiently, withRedisErrors } from '@yardmaster/redis';
import { check_spaces, runScript } from '@yardmaster/store';
import { type Checked, flagOf } from '../checked.js';
import { type Fault, faultOf } from '../faults.js';

/** Look for spaces of a partition that are listed and have no job. */
export async function checkSpaces(checked: Checked, partition: string): Promise<Fault[]> {
  const { store } = checked;
  const key = store.keys.spaces(partition);
  const faults: Fault[] = [];
  // A key of another type is a fault that was reported already.
  if ((await patiently(() => withRedisErrors(store.redis.type(key)))) !== 'zset') return [];
  for await (const ids of membersOf(store.redis, key)) {
    const [, flat] = (await patiently(() =>
      runScript(store, check_spaces, {
        keys: { spaces: key },
        args: { base: store.keys.baseOf(partition), isRepairing: flagOf(checked) },
        rest: ids,
      }),
    )) as ['OK', string[]];
    for (let i = 0; i < flat.length; i += 2) {
      const detail = `${flat[i]} has no jobs`;
      faults.push(faultOf('space_empty', { jobId: null, key, detail }, flat[i + 1] as string));
    }
  }
  return faults;
}
