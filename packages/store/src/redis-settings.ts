import { YardmasterError } from '@yardmaster/protocol';
import { atEachPrimary, infoField, primariesOf } from '@yardmaster/redis';
import { Cluster, type Redis } from 'ioredis';
import type { Store } from './store.js';

/** How one primary keeps its data, according to INFO. A Redis service that hides a field counts as safe. */
export interface RedisSettings {
  /** `host:port` in a cluster, else `redis`. */
  primary: string;
  /** 0 for no limit. */
  maxMemoryBytes: number;
  policy: string;
  /** Keys evicted since Redis started. */
  evictedKeys: number;
  isAppendOnly: boolean;
  /** Whether the last write to the append-only file succeeded. */
  isAofWritten: boolean;
  /** Whether the last rewrite of the append-only file succeeded. */
  isAofRewritten: boolean;
}

/** Faults of a primary that can lose jobs. */
export const REDIS_FAULTS = ['evicts', 'evicted', 'aof_write', 'aof_rewrite'] as const;

export type RedisFault = (typeof REDIS_FAULTS)[number];

const nameOf = ({ redis: client }: Store, { options: { host, port } }: Redis) =>
  client instanceof Cluster ? `${host}:${port}` : 'redis';

/** Return the names of all primaries, as in `RedisSettings.primary`. */
export const namesOfPrimaries = (store: Store): Set<string> =>
  new Set(primariesOf(store.redis).map((primary) => nameOf(store, primary)));

/**
 * Read the settings of each primary that replies and has loaded its file.
 *
 * @throws UNAVAILABLE when none replies
 */
export function readRedisSettings(store: Store): Promise<RedisSettings[]> {
  return atEachPrimary(store.redis, async (redis) => {
    const info = await redis.info();
    // While Redis loads its append-only file, INFO reports that it has none.
    if (infoField(info, 'loading') === '1') throw new YardmasterError('UNAVAILABLE');
    return {
      primary: nameOf(store, redis),
      maxMemoryBytes: Number(infoField(info, 'maxmemory') ?? 0),
      policy: infoField(info, 'maxmemory_policy') ?? 'noeviction',
      evictedKeys: Number(infoField(info, 'evicted_keys') ?? 0),
      isAppendOnly: infoField(info, 'aof_enabled') !== '0',
      isAofWritten: infoField(info, 'aof_last_write_status') !== 'err',
      isAofRewritten: infoField(info, 'aof_last_bgrewrite_status') !== 'err',
    };
  });
}

/** Check whether Redis evicts jobs when its memory is full. Without a limit, it is never full. */
export const evicts = ({ policy, maxMemoryBytes }: RedisSettings) => policy !== 'noeviction' && maxMemoryBytes > 0;

/**
 * List the faults in the settings of a primary.
 *
 * @param before settings at the previous check; absent at the first check
 */
export function redisFaultsOf(now: RedisSettings, before?: RedisSettings): RedisFault[] {
  const isWrong: Record<RedisFault, boolean> = {
    evicts: evicts(now),
    evicted: before !== undefined && now.evictedKeys > before.evictedKeys,
    aof_write: now.isAppendOnly && !now.isAofWritten,
    aof_rewrite: now.isAppendOnly && !now.isAofRewritten,
  };
  return REDIS_FAULTS.filter((fault) => isWrong[fault]);
}
