import { LIMITS, type Paused, type PauseRequest, YardmasterError } from '@yardmaster/protocol';
import { call } from '../../call.js';
import { runScript } from '../../script/run-script.js';
import { pause, requeue_resumed, resume } from '../../script/scripts.generated.js';
import type { Store } from '../../store.js';

/** Jobs that one step looks at. */
const STEP = 100;

/**
 * Pause jobs of some names, or a whole space: none of these jobs is claimed from now on. Jobs that are delivered or
 * running continue.
 *
 * @returns whether something was not paused before
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
 * End the pause of jobs of some names; without names, all pauses of a space. Jobs of a resumed name are in their places
 * in the space's queue again once sweeps have put them back, see requeueResumed.
 *
 * @returns whether something was paused before
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

/** Return what is paused by the fields of /paused, see lua/waiting/paused.lua. */
export function pausedOf(fields: readonly (readonly [name: string, value: string])[]): Paused {
  const names = fields.filter(([, value]) => value === '1').map(([name]) => name);
  if (names.includes('')) return true;
  return names.length === 0 ? undefined : names.sort();
}

/**
 * Do one step of a partition for its pauses: put at most 100 jobs of a resumed name back into the queue of their space,
 * or take those of paused names out of its head. Any number of processes may call it at once.
 *
 * @param partition its tag, see PARTITION_TAGS
 * @throws UNAVAILABLE
 */
export async function requeueResumed(store: Store, partition: string): Promise<{ isMore: boolean; broken: string[] }> {
  const { isMore } = await runScript(store, requeue_resumed, {
    keys: { pauses: store.keys.pauses(partition) },
    args: { base: store.keys.baseOf(partition), limit: STEP },
  });
  return { isMore: isMore === 1, broken: [] };
}
