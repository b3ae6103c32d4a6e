import type { SpaceList, SpacesQuery } from '@yardmaster/protocol';
import pLimit from 'p-limit';
import { call } from '../call.js';
import { PARTITION_TAGS, partitionOf } from '../keys.js';
import { onBulk } from '../script/run-script.js';
import { ANY_SPACE, type Caller, type Store } from '../store.js';
import { getStats } from './stats.js';

/** Ids of spaces that one command reads: it takes Redis some 0.3 ms. */
const PORTION = 1_000;

/** Spaces that are counted at once, each by its own script. */
const COUNTED_AT_ONCE = 8;

/**
 * List the spaces that have jobs, with their figures. They are in the order of their partitions, and by id in each,
 * because that order does not change: the scores in the sorted sets do with each job. So no space is listed twice, and
 * none is missed that has jobs all the time. For a page, the ids of a partition are read as a whole.
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
      .filter(({ jobs }) => jobs.total > 0) // Its last job may be gone by now, or a key's own space may have had none.
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
 * Return the ids of the next spaces after a cursor.
 *
 * @param wanted ids at most
 */
async function idsAfter(store: Store, cursor: string | null, wanted: number): Promise<string[]> {
  const tags = cursor === null ? PARTITION_TAGS : PARTITION_TAGS.slice(PARTITION_TAGS.indexOf(partitionOf(cursor)));
  const found: string[] = [];
  // Twice as many partitions with each step: one with many spaces is read alone, and many with few take few steps.
  for (let first = 0, next = 1; first < tags.length && found.length < wanted; next *= 2) {
    const read = await Promise.all(tags.slice(first, first + next).map((tag) => idsOf(store, tag)));
    first += next;
    for (const ids of read) for (const id of ids) if (isAfter(id, cursor)) found.push(id);
  }
  return found.slice(0, wanted);
}

/**
 * Read the ids of all spaces of a partition, sorted. They are read by score, which only grows: a space that gets a job
 * in the meantime moves ahead of the reader, who may find it twice but does not miss it.
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
    from = page[1] === last ? `(${last}` : last; // From that score on, because the next space may have the same.
  }
}
