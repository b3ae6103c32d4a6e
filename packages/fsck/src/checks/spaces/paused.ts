import { retryUnavailable } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, type FaultKind, faultOf, repairFlagOf } from '../../faults.js';
import { check_paused } from '../../scripts.generated.js';

/** Check what is paused in a space. */
export async function checkPaused(checked: CheckContext, spaceId: string): Promise<Fault[]> {
  const { store } = checked;
  const { found } = await retryUnavailable(() =>
    runScript(store, check_paused, {
      keys: { paused: store.keys.paused(spaceId) },
      args: { base: store.keys.baseOfSpace(spaceId), isRepairing: repairFlagOf(checked), space: spaceId },
    }),
  );
  return Array.from({ length: found.length / 4 }, (_, i) => {
    const [kind, key, detail, outcome] = found.slice(4 * i, 4 * i + 4) as [FaultKind, string, string, string];
    return faultOf(kind, { jobId: null, key, detail }, outcome);
  });
}
