import type { Status } from '@yardmaster/protocol';
import { call } from '../call.js';
import { runScript } from '../script/run-script.js';
import { bring_back, mark_step } from '../script/scripts.generated.js';
import type { Store } from '../store.js';

/** Jobs checked in one script, and spaces in one portion. */
const BATCH = 100;

const WORKING: readonly Status[] = ['delivered', 'running'];

/**
 * Record that Redis' clock has stepped forward. From then on, `expireDue` gives one more window to a delivered or
 * running job whose worker's last call was before the step. It does not end the attempt, which had less than its
 * window.
 *
 * @param readAt when the caller last read this clock, before the step, by Redis' time
 * @returns whether this call recorded it; false when another scheduler had done so
 * @throws UNAVAILABLE
 */
export async function markStep(store: Store, partition: string, readAt: number): Promise<boolean> {
  const keys = { stepped: store.keys.stepped(partition) };
  const { marked } = await runScript(store, mark_step, { keys, args: { readAt } });
  return marked === 1;
}

/**
 * Give one more window to each delivered or running job of a partition whose worker's last call is in the future.
 * Redis' clock has stepped back since, and without this the job would wait for as long as the step was. A second call
 * does no harm. It costs two short commands for each space.
 *
 * @returns jobs that were given a window
 * @throws UNAVAILABLE
 */
export async function restoreDeadlines(store: Store, partition: string): Promise<number> {
  const { redis, keys } = store;
  let total = 0;
  for (let cursor = '0'; ; ) {
    const scan = redis.zscan(keys.spaces(partition), cursor, 'COUNT', BATCH);
    const [next, flat] = await call(store, 'zscan', scan);
    const spaces = flat.filter((_, i) => i % 2 === 0);
    const indexes = spaces.flatMap((space) => WORKING.map((status) => keys.jobsByStatus(space, status)));
    const sizes = await Promise.all(indexes.map((index) => call(store, 'zcard', redis.zcard(index))));
    for (const [i, index] of indexes.entries()) if (sizes[i]) total += await reopenIn(store, partition, index);
    cursor = next;
    if (cursor === '0') return total;
  }
}

async function reopenIn(store: Store, partition: string, index: string): Promise<number> {
  const { deliveryTimeoutMs } = store.settings;
  let total = 0;
  for (let afterOrder = '-inf'; ; ) {
    const { examined, lastOrder, reopened } = await runScript(store, bring_back, {
      keys: { index },
      args: { base: store.keys.baseOf(partition), afterOrder, limit: BATCH, deliveryTimeoutMs },
    });
    total += reopened;
    if (examined < BATCH) return total;
    afterOrder = lastOrder;
  }
}
