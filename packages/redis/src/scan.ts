import { YardmasterError } from '@yardmaster/protocol';
import { Cluster, type Redis } from 'ioredis';
import { primariesOf, type RedisClient } from './client.js';
import { withRedisErrors } from './errors.js';

/** Keys asked for in one SCAN: well under a millisecond of Redis, and some 30 KB of reply. */
const KEYS_AT_ONCE = 500;

/** Members asked for in one ZSCAN or HSCAN. */
export const MEMBERS_AT_ONCE = 100;

/** How long to keep asking a Redis that does not reply: longer than a failover or a restart takes. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 250;

const isPassing = (error: unknown) => error instanceof YardmasterError && error.code === 'UNAVAILABLE';

/**
 * Ask again while no reply comes. Use this only for what may be done twice: reads, and repairs, which look before they
 * write.
 *
 * @throws UNAVAILABLE after half a minute
 */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Yield all keys under our prefix, in portions. A key that is there all the time is yielded at least once. */
export async function* keysOf(redis: RedisClient, keyPrefix: string): AsyncGenerator<string[]> {
  for (const primary of primariesOf(redis)) {
    for (let cursor = '0'; ; ) {
      const [next, keys] = await patiently(() =>
        withRedisErrors(primary.scan(cursor, 'MATCH', `${keyPrefix}:*`, 'COUNT', KEYS_AT_ONCE)),
      );
      if (keys.length > 0) yield keys;
      cursor = next;
      if (cursor === '0') break;
    }
  }
}

/** Yield all members of a sorted set, in portions. */
export async function* membersOf(redis: RedisClient, key: string): AsyncGenerator<string[]> {
  yield* pairsOf(
    (cursor) => redis.zscan(key, cursor, 'COUNT', MEMBERS_AT_ONCE),
    ([member]) => member,
  );
}

/** Yield all fields of a hash with their values, in portions. */
export async function* fieldsOf(redis: RedisClient, key: string): AsyncGenerator<[string, string][]> {
  yield* pairsOf(
    (cursor) => redis.hscan(key, cursor, 'COUNT', MEMBERS_AT_ONCE),
    (pair) => pair,
  );
}

async function* pairsOf<T>(
  scan: (cursor: string) => Promise<[cursor: string, flat: string[]]>,
  itemOf: (pair: [string, string]) => T,
): AsyncGenerator<T[]> {
  for (let cursor = '0'; ; ) {
    const [next, flat] = await patiently(() => withRedisErrors(scan(cursor)));
    const items: T[] = [];
    for (let i = 0; i < flat.length; i += 2) items.push(itemOf([flat[i] as string, flat[i + 1] as string]));
    // Redis returns a small set or hash as a whole, whatever was asked for.
    for (let i = 0; i < items.length; i += MEMBERS_AT_ONCE) yield items.slice(i, i + MEMBERS_AT_ONCE);
    cursor = next;
    if (cursor === '0') return;
  }
}

/**
 * Describe which server has which keys: run ids, and in a cluster which primary has which slots. While this stays the
 * same, no key moves to a place that was already searched.
 */
export async function holdersOf(redis: RedisClient): Promise<string> {
  const primaries = primariesOf(redis);
  const infos = await Promise.all(primaries.map((primary) => patiently(() => withRedisErrors(primary.info('server')))));
  const runIds = infos.map((info) => /^run_id:(\w+)/m.exec(info)?.[1]);
  const slots = redis instanceof Cluster ? await slotsOf(primaries) : [];
  return [...runIds, ...slots].sort().join(' ');
}

async function slotsOf([any]: Redis[]): Promise<string[]> {
  const ranges = await patiently(() => withRedisErrors((any as Redis).cluster('SLOTS')));
  return ranges.map(([from, to, primary]) => `${from}-${to}:${primary?.[2]}`);
}
