import { LIMITS, type Paused, type PauseRequest, YardmasterError } from '@yardmaster/protocol';
import { call } from '../../call.js';
import { runScript } from '../../script/run-script.js';
import { pause, requeue_resumed, resume } from '../../script/scripts.generated.js';
import type { Store } from '../../store.js';

/** Maximum number of jobs per step. */
const STEP = 100;

/**
 * Pause some names, or a whole space: their jobs can no longer be claimed. Delivered and running jobs continue.
 *
 * @returns whether anything was not paused before
 * @throws INVALID_REQUEST when too many names would be paused; UNAVAILABLE
 * @see docs/api/spaces.md#pause-and-resume
 */
export async function pauseSpace(store: Store, spaceId: string, { names }: PauseRequest): Promise<boolean> {
  const reply = await runScript(store, pause, {
    keys: { paused: store.keys.paused(spaceId) },
    args: { base: store.keys.baseOfSpace(spaceId), space: spaceId, most: LIMITS.pausedNames },
    rest: [...new Set(names ?? [''])],
  });
  if (reply.outcome === 'TOO_MANY') {
    throw new YardmasterError('INVALID_REQUEST', `names must leave at most ${LIMITS.pausedNames} names paused`);
  }
  return reply.changed > 0;
}

/**
 * Resume some names or, without names, everything in a space. Sweeps put the jobs of resumed names back in the space's
 * queue; see requeueResumed.
 *
 * @returns whether anything was paused before
 * @throws UNAVAILABLE
 * @see docs/api/spaces.md#pause-and-resume
 */
export async function resumeSpace(store: Store, spaceId: string, { names }: PauseRequest): Promise<boolean> {
  const { isAny } = await runScript(store, resume, {
    keys: { paused: store.keys.paused(spaceId) },
    args: { base: store.keys.baseOfSpace(spaceId), space: spaceId, limit: STEP },
    rest: names ?? [],
  });
  return isAny === 1;
}

/**
 * Read what is paused in a space.
 *
 * @throws UNAVAILABLE
 */
export async function readPaused(store: Store, spaceId: string): Promise<Paused> {
  return pausedOf(Object.entries(await call(store, 'hgetall', store.redis.hgetall(store.keys.paused(spaceId)))));
}

/** Decode the fields of /paused; see lua/waiting/paused.lua. */
export function pausedOf(fields: readonly (readonly [name: string, value: string])[]): Paused {
  const names = fields.filter(([, value]) => value === '1').map(([name]) => name);
  if (names.includes('')) return true;
  return names.length === 0 ? undefined : names.sort();
}

/**
 * Maintain the queues of a partition's spaces with pauses, one step per call: put up to 100 jobs of resumed names back in
 * the queue of their space, or take jobs of paused names off its head. Any number of processes can call this at once.
 *
 * @param partition tag of the partition; see PARTITION_TAGS
 * @throws UNAVAILABLE
 */
export async function requeueResumed(store: Store, partition: string): Promise<{ isMore: boolean; broken: string[] }> {
  const { isMore } = await runScript(store, requeue_resumed, {
    keys: { pauses: store.keys.pauses(partition) },
    args: { base: store.keys.baseOf(partition), limit: STEP },
  });
  return { isMore: isMore === 1, broken: [] };
}
