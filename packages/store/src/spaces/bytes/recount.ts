import { runScript } from '../../script/run-script.js';
import { recount } from '../../script/scripts.generated.js';
import type { Store } from '../../store.js';

/** Jobs that one step measures. */
const STEP = 50;

/**
 * Do one step of a partition for the recounts of the bytes of its spaces. Any number of processes may call it at once.
 *
 * @param partition its tag, see PARTITION_TAGS
 * @returns whether a step was due
 * @throws UNAVAILABLE
 */
export async function recountBytes(store: Store, partition: string): Promise<boolean> {
  const { wasDue } = await runScript(store, recount, {
    keys: { recounts: store.keys.recounts(partition) },
    args: { base: store.keys.baseOf(partition), limit: STEP },
  });
  return wasDue === 1;
}
