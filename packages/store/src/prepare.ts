import { Cluster, type Redis } from 'ioredis';
import { readFormat } from './format.js';
import { PARTITIONS } from './partition.js';
import { atEachPrimary, infoField } from './primaries.js';
import { asked } from './redis-errors.js';
import { textOn } from './script-on-cluster.js';
import * as scripts from './scripts.generated.js';
import type { Store } from './store.js';

/** Oldest Redis whose commands and script rules ours rely on. */
const MIN_REDIS = [6, 2] as const;

/** The same in a cluster, which before could not publish within a shard. */
const CLUSTER_REDIS = [7, 0] as const;

function isOlder(version: string, [neededMajor, neededMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

/** Read how many partitions the jobs are spread over; written by the very first process. */
async function partitionsOf(store: Store): Promise<string | null> {
  const { meta } = store.keys;
  const known = await asked(store.redis.hget(meta, 'partitions'));
  // Only then a write: a full Redis refuses HSETNX even where it would write nothing, and no process could start.
  if (known === null) await asked(store.redis.hsetnx(meta, 'partitions', PARTITIONS));
  return known ?? asked(store.redis.hget(meta, 'partitions'));
}

/** Check what must be true of one Redis. */
async function checkServer(redis: Redis, isOfCluster: boolean): Promise<void> {
  const info = await redis.info();
  const version = infoField(info, 'redis_version') ?? '0';
  const [needed, why] = isOfCluster ? ([CLUSTER_REDIS, ' of a cluster'] as const) : ([MIN_REDIS, ''] as const);
  if (isOlder(version, needed))
    throw new Error(`Redis ${version} is too old: ${needed.join('.')} or later is needed${why}`);
  if (!isOfCluster && infoField(info, 'cluster_enabled') === '1') {
    throw new Error('Redis is a node of a cluster: REDIS_URL must be redis+cluster://…');
  }
}

/**
 * Check that this Redis can hold our jobs, mark it as ours at the first start, and give it our scripts. Of a cluster,
 * every primary that is there.
 *
 * @throws Error when the Redis is too old, or holds jobs in another layout or a newer format; UNAVAILABLE
 */
export async function prepareRedis(store: Store): Promise<void> {
  await atEachPrimary(store, (redis) => checkServer(redis, store.redis instanceof Cluster));

  const partitions = await partitionsOf(store);
  if (partitions !== String(PARTITIONS)) {
    throw new Error(`Redis holds jobs spread over ${partitions} partitions, this release uses ${PARTITIONS}`);
  }

  await readFormat(store);

  // Calls that find a script missing send it again and so fall behind calls that came later: better not at start.
  const texts = Object.values(scripts).map((script) => textOn(store.redis, script).text);
  await atEachPrimary(store, (redis) => Promise.all(texts.map((text) => redis.script('LOAD', text))));
}
