import type { SpaceList, SpacesQuery } from '@yardmaster/protocol';
import pLimit from 'p-limit';
import { call } from '../call.js';
import { PARTITION_TAGS, partitionOf } from '../keys.js';
import { onBulk } from '../script/run-script.js';
import { ANY_SPACE, type Caller, type Store } from '../store.js';
import { getStats } from './stats.js';

/** Space IDs per command, which takes Redis about 0.3 ms. */
const PORTION = 1_000;

/** Number of spaces to count at once, each with its own script. */
const COUNTED_AT_ONCE = 8;

/**
 * List the spaces that have jobs, with their figures, ordered by partition and then by ID. That order never changes, unlike
 * the scores in the sorted sets, so no space is listed twice, and a space that has jobs the whole time is not missed. A page
 * reads all IDs of each partition that it covers.
 *
 * @throws UNAVAILABLE
 * @see docs/api/spaces.md#list-spaces
 */
export async function listSpaces(
  store: Store,
  { spaceId }: Pick<Caller, 'spaceId'>,
  { cursor, limit }: SpacesQuery,
): Promise<SpaceList> {
  const on = onBulk(store);
  const ids = spaceId === null ? await idsAfter(on, cursor, limit + 1) : [spaceId].filter((id) => isAfter(id, cursor));
  const abreast = pLimit(COUNTED_AT_ONCE);
  const shown = ids.slice(0, limit);
  const stats = await Promise.all(
    shown.map((id) => abreast(() => getStats(on, ANY_SPACE, id, { limit: 0, names: [] }))),
  );
  return {
    spaces: stats
      .filter(({ jobs }) => jobs.total > 0) // Its last job may be gone, or the space of the key never had jobs.
      .map(({ spaceId: id, jobs, oldestPendingAgeSeconds }) => ({ spaceId: id, jobs, oldestPendingAgeSeconds })),
    nextCursor: ids.length > limit ? (shown.at(-1) as string) : null,
  };
}

const isAfter = (id: string, cursor: string | null) => {
  if (cursor === null) return true;
  const [partition, last] = [partitionOf(id), partitionOf(cursor)];
  return partition > last || (partition === last && id > cursor);
};

/**
 * Return the IDs of the next spaces after a cursor.
 *
 * @param wanted maximum number of IDs
 */
async function idsAfter(store: Store, cursor: string | null, wanted: number): Promise<string[]> {
  const tags = cursor === null ? PARTITION_TAGS : PARTITION_TAGS.slice(PARTITION_TAGS.indexOf(partitionOf(cursor)));
  const found: string[] = [];
  // Double the number of partitions with each step: a partition with many spaces is read alone, and many small ones take
  // few steps.
  for (let first = 0, next = 1; first < tags.length && found.length < wanted; next *= 2) {
    const read = await Promise.all(tags.slice(first, first + next).map((tag) => idsOf(store, tag)));
    first += next;
    for (const ids of read) for (const id of ids) if (isAfter(id, cursor)) found.push(id);
  }
  return found.slice(0, wanted);
}

/**
 * Read the IDs of all spaces of a partition, sorted. They are read by score, which only grows, so a space that gets a job
 * in the meantime may be read twice, but is not missed.
 */
async function idsOf(store: Store, tag: string): Promise<string[]> {
  const ids = new Set<string>();
  for (let from = '-inf'; ; ) {
    const key = store.keys.spaces(tag);
    const page = await call(
      store,
      'zrangebyscore',
      store.redis.zrangebyscore(key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, PORTION),
    );
    for (let i = 0; i < page.length; i += 2) ids.add(page[i] as string);
    const last = page.at(-1);
    if (page.length < 2 * PORTION || last === undefined) return [...ids].sort();
    from = page[1] === last ? `(${last}` : last; // Include that score, because the next space may have the same.
  }
}
