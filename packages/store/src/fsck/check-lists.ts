import { asked } from '../redis-errors.js';
import { runScript } from '../script.js';
import { check_list } from '../scripts.generated.js';
import { type Checked, flagOf } from './checked.js';
import { type Fault, faultOf } from './faults.js';
import { patiently } from './walk.js';

/** Look for lists whose jobs are gone. Most are ruled out by a cheap read. */
export async function checkLists(checked: Checked, lists: { key: string; jobId: string }[]): Promise<Fault[]> {
  const { store } = checked;
  const faults = await Promise.all(
    lists.map(async ({ key, jobId }) => {
      const job = store.keys.job(jobId);
      if ((await patiently(() => asked(store.redis.exists(job)))) === 1) return [];
      const [, outcome] = await patiently(() =>
        runScript(store, check_list, { keys: { list: key }, args: { job, isMending: flagOf(checked) } }),
      );
      if (outcome === '') return [];
      const detail = 'the job does not exist';
      return [faultOf('list_orphaned', { jobId, key, detail }, outcome === 'mended' ? 'mended' : '')];
    }),
  );
  return faults.flat();
}
