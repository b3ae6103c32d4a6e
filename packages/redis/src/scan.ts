import { Cluster, type Redis } from 'ioredis';
import { infoField, primariesOf, type RedisClient } from './client.js';
import { withRedisErrors } from './errors.js';
import { retryUnavailable } from './retry.js';

/** Keys per SCAN: well under a millisecond of Redis, and a reply of about 30 KB. */
const KEYS_AT_ONCE = 500;

/** Members per ZSCAN or HSCAN. */
const MEMBERS_AT_ONCE = 100;

/** Yield all keys with our prefix, in portions. A key that exists the whole time is yielded at least once. */
export async function* keysOf(redis: RedisClient, keyPrefix: string): AsyncGenerator<string[]> {
  for (const primary of primariesOf(redis)) {
    yield* portions((cursor) => primary.scan(cursor, 'MATCH', `${keyPrefix}:*`, 'COUNT', KEYS_AT_ONCE));
  }
}

/** Yield all members of a sorted set, in portions. */
export async function* membersOf(redis: RedisClient, key: string): AsyncGenerator<string[]> {
  for await (const pairs of pairsOf((cursor) => redis.zscan(key, cursor, 'COUNT', MEMBERS_AT_ONCE))) {
    yield pairs.map(([member]) => member);
  }
}

/** Yield all fields of a hash with their values, in portions. */
export async function* fieldsOf(redis: RedisClient, key: string): AsyncGenerator<[string, string][]> {
  yield* pairsOf((cursor) => redis.hscan(key, cursor, 'COUNT', MEMBERS_AT_ONCE));
}

type Scan = (cursor: string) => Promise<[cursor: string, items: string[]]>;

async function* portions(scan: Scan): AsyncGenerator<string[]> {
  for (let cursor = '0'; ; ) {
    const [next, items] = await retryUnavailable(() => withRedisErrors(scan(cursor)));
    if (items.length > 0) yield items;
    cursor = next;
    if (cursor === '0') return;
  }
}

async function* pairsOf(scan: Scan): AsyncGenerator<[string, string][]> {
  for await (const flat of portions(scan)) {
    const pairs: [string, string][] = [];
    for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] as string, flat[i + 1] as string]);
    // Redis returns a small set or hash as a whole, whatever the requested count.
    for (let i = 0; i < pairs.length; i += MEMBERS_AT_ONCE) yield pairs.slice(i, i + MEMBERS_AT_ONCE);
  }
}

/**
 * Describe which server has which keys: run IDs, and in a cluster, which primary has which slots. As long as this doesn't
 * change, no key moves to a server that was already searched.
 */
export async function keyLocationsOf(redis: RedisClient): Promise<string> {
  // The client drops a primary that was down, and re-adds it only once it needs one of its slots.
  if (redis instanceof Cluster) await new Promise((done) => redis.refreshSlotsCache(done));
  const primaries = primariesOf(redis);
  const infos = await Promise.all(
    primaries.map((primary) => retryUnavailable(() => withRedisErrors(primary.info('server')))),
  );
  const runIds = infos.map((info) => infoField(info, 'run_id'));
  const slots = redis instanceof Cluster ? await slotsOf(primaries) : [];
  return [...runIds, ...slots].sort().join(' ');
}

async function slotsOf([any]: Redis[]): Promise<string[]> {
  const ranges = await retryUnavailable(() => withRedisErrors((any as Redis).cluster('SLOTS')));
  return ranges.map(([from, to, primary]) => `${from}-${to}:${primary?.[2]}`);
}
