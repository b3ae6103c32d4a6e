import { retryUnavailable } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, faultsFound, repairFlagOf } from '../../faults.js';
import { check_paused } from '../../scripts.generated.js';

/** Check the pauses of a space. */
export async function checkPaused(checked: CheckContext, spaceId: string): Promise<Fault[]> {
  const { store } = checked;
  const { found } = await retryUnavailable(() =>
    runScript(store, check_paused, {
      keys: { paused: store.keys.paused(spaceId) },
      args: { base: store.keys.baseOfSpace(spaceId), isRepairing: repairFlagOf(checked), space: spaceId },
    }),
  );
  return faultsFound(found);
}
