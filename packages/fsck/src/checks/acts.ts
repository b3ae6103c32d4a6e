import { membersOf, retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { runScript } from '@yardmaster/store';
import { type CheckContext, type Fault, faultsFound, repairFlagOf } from '../faults.js';
import { check_acts } from '../scripts.generated.js';

/** Acts per read. */
const ACTS_AT_ONCE = 100;

/** Look for acts in a stream of the audit that are missing from the index of their owner. Yields once per portion. */
export async function* checkActs(checked: CheckContext, audit: string): AsyncGenerator<Fault[]> {
  const { redis } = checked.store;
  for (let from = '-'; ; ) {
    const read = () => withRedisErrors(redis.xrange(audit, from, '+', 'COUNT', ACTS_AT_ONCE));
    const ids = (await retryUnavailable(read)).map(([id]) => id);
    if (ids.length === 0) return;
    yield await compare(checked, audit, '', ids);
    from = `(${ids.at(-1)}`;
  }
}

/** Look for acts in the index of an owner that are not its own. Yields once per portion. */
export async function* checkActsOf(checked: CheckContext, audit: string, owner: string): AsyncGenerator<Fault[]> {
  const { redis } = checked.store;
  for await (const ids of membersOf(redis, `${audit}/of/${owner}`)) yield await compare(checked, audit, owner, ids);
}

/** Look for wrong numbers of acts. Yields once per owner. */
export async function* checkActOwners(checked: CheckContext, audit: string): AsyncGenerator<Fault[]> {
  for await (const owners of membersOf(checked.store.redis, `${audit}/owners`)) {
    for (const owner of owners) yield await compare(checked, audit, owner, []);
  }
}

async function compare(checked: CheckContext, audit: string, owner: string, ids: string[]): Promise<Fault[]> {
  const { found } = await retryUnavailable(() =>
    runScript(checked.store, check_acts, {
      keys: { audit },
      args: { isRepairing: repairFlagOf(checked), owner },
      rest: ids,
    }),
  );
  return faultsFound(found);
}
