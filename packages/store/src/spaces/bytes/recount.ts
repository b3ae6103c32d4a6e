import { runScript } from '../../script/run-script.js';
import { recount } from '../../script/scripts.generated.js';
import type { Store } from '../../store.js';

/** Maximum number of jobs per step. */
const STEP = 50;

/**
 * Recount the bytes of a partition's spaces, one step per call. Any number of processes can call this at once.
 *
 * @param partition tag of the partition; see PARTITION_TAGS
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
