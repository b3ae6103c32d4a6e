import { YardmasterError } from '@yardmaster/protocol';
import { Cluster, type Redis } from 'ioredis';
import { PARTITIONS } from './partition.js';
import { asked } from './redis-errors.js';
import { textOn } from './script-on-cluster.js';
import * as scripts from './scripts.generated.js';
import { primariesOf, type Store } from './store.js';

/** Oldest Redis whose commands and script rules ours rely on. */
const MIN_REDIS = [6, 2] as const;

/** The same in a cluster, which before could not publish within a shard. */
const CLUSTER_REDIS = [7, 0] as const;

function isOlder(version: string, [neededMajor, neededMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

const fieldOf = (info: string, field: string) => info.match(new RegExp(`^${field}:(.*?)\r?$`, 'm'))?.[1];

/** Read how many partitions the jobs are spread over; written by the very first process. */
async function partitionsOf(store: Store): Promise<string | null> {
  const { meta } = store.keys;
  const known = await asked(store.redis.hget(meta, 'partitions'));
  // Only then a write: a full Redis refuses HSETNX even where it would write nothing, and no process could start.
  if (known === null) await asked(store.redis.hsetnx(meta, 'partitions', PARTITIONS));
  return known ?? asked(store.redis.hget(meta, 'partitions'));
}

/** What must be true of one Redis, and what should be. */
async function checkServer(redis: Redis, isOfCluster: boolean): Promise<string[]> {
  const info = await asked(redis.info());
  const version = fieldOf(info, 'redis_version') ?? '0';
  const [needed, why] = isOfCluster ? ([CLUSTER_REDIS, ' of a cluster'] as const) : ([MIN_REDIS, ''] as const);
  if (isOlder(version, needed))
    throw new Error(`Redis ${version} is too old: ${needed.join('.')} or later is needed${why}`);
  if (!isOfCluster && fieldOf(info, 'cluster_enabled') === '1') {
    throw new Error('Redis is a node of a cluster: REDIS_URL must be redis+cluster://…');
  }

  const warnings: string[] = [];
  const policy = fieldOf(info, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    warnings.push(`Redis may evict jobs: maxmemory-policy is ${policy}, it must be noeviction`);
  }
  if (fieldOf(info, 'aof_enabled') === '0') {
    warnings.push('Redis keeps no append-only file: jobs created since its last snapshot are lost when it crashes');
  }
  return warnings;
}

/**
 * Do something at each of some primaries. While one of a cluster is away the others have work to do, so those that do
 * not answer are passed over unless none does.
 *
 * @throws UNAVAILABLE when none answers; what is wrong with any one
 */
async function atEach<T>(primaries: readonly Redis[], act: (redis: Redis) => Promise<T>): Promise<T[]> {
  const outcomes = await Promise.allSettled(primaries.map((redis) => asked(act(redis))));
  const failed = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
  const isAway = (error: unknown) => error instanceof YardmasterError && error.code === 'UNAVAILABLE';
  const fault = failed.find((error) => !isAway(error)) ?? (failed.length === outcomes.length ? failed[0] : undefined);
  if (fault !== undefined) throw fault;
  return outcomes.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
}

/**
 * Check that this Redis can hold our jobs, mark it as ours at the first start, and give it our scripts. Of a cluster,
 * every primary that is there.
 *
 * @returns warnings for the operator: what works but will lose jobs one day
 * @throws Error when the Redis is too old, or holds jobs in another layout; UNAVAILABLE
 */
export async function prepareRedis(store: Store): Promise<string[]> {
  const primaries = primariesOf(store.redis);
  const checks = await atEach(primaries, (redis) => checkServer(redis, store.redis instanceof Cluster));

  const partitions = await partitionsOf(store);
  if (partitions !== String(PARTITIONS)) {
    throw new Error(`Redis holds jobs spread over ${partitions} partitions, this release uses ${PARTITIONS}`);
  }

  // Calls that find a script missing send it again and so fall behind calls that came later: better not at start.
  const texts = Object.values(scripts).map((script) => textOn(store.redis, script).text);
  await atEach(primaries, (redis) => Promise.all(texts.map((text) => redis.script('LOAD', text))));

  return [...new Set(checks.flat())];
}
