import { retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, type FaultKind, faultOf, repairFlagOf } from '../../faults.js';
import { check_recount, check_sum } from '../../scripts.generated.js';
import { pagesOf } from '../names.js';

/** Check that the bytes of a space are counted if and only if its settings have `maxBytes`. */
export async function checkRecount(checked: CheckContext, spaceId: string): Promise<Fault[]> {
  const { keys } = checked.store;
  const { found } = await retryUnavailable(() =>
    runScript(checked.store, check_recount, {
      keys: { sums: keys.bytes(spaceId) },
      args: { base: keys.baseOfSpace(spaceId), isRepairing: repairFlagOf(checked), space: spaceId },
    }),
  );
  if (found.length === 0) return [];
  const [kind, key, detail, outcome] = found as [FaultKind, string, string, string];
  return [faultOf(kind, { jobId: null, key, detail }, outcome)];
}

/** Compare the byte total of a space with its jobs. Nothing is reported if they change in the meantime. */
export async function checkSum(checked: CheckContext, spaceId: string): Promise<Fault[]> {
  const { store } = checked;
  const key = store.keys.bytes(spaceId);
  const [round, sum] = await retryUnavailable(() => withRedisErrors(store.redis.hmget(key, 'round', 'sum')));
  if (!round) return [];
  let right = 0;
  for await (const { bytes } of pagesOf(checked, spaceId)) {
    for (const [of, all] of bytes.map((text) => text.split(' '))) if (of === round) right += Number(all);
  }
  const before = sum ?? '0';
  const reply = await retryUnavailable(() =>
    runScript(store, check_sum, {
      keys: { sums: key },
      args: { isRepairing: repairFlagOf(checked), round, before, right },
    }),
  );
  if (reply.outcome !== 'WRONG') return [];
  return [faultOf('bytes_wrong', { jobId: null, key, detail: `${before} instead of ${right}` }, reply.repair)];
}
