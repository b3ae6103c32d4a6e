import { YardmasterError } from '@yardmaster/protocol';
import { atEachPrimary, infoField, withRedisErrors } from '@yardmaster/redis';
import { Cluster, type Redis } from 'ioredis';
import { idempotencySecretOf } from './jobs/create/idempotency.js';
import { PARTITIONS } from './keys.js';
import { startManualClock } from './script/manual-clock.js';
import { textOn } from './script/run-script.js';
import * as generated from './script/scripts.generated.js';
import type { Store } from './store.js';

/** Oldest Redis with the commands and script rules that our scripts need. */
const MIN_REDIS = [6, 2] as const;

/** Oldest Redis for a cluster, because earlier ones have no sharded pub/sub. */
const CLUSTER_REDIS = [7, 0] as const;

function isOlder(version: string, [neededMajor, neededMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

/** Check the version and the mode of one Redis. */
async function checkServer(redis: Redis, isOfCluster: boolean): Promise<void> {
  const info = await redis.info();
  const version = infoField(info, 'redis_version') ?? '0';
  const [needed, why] = isOfCluster ? ([CLUSTER_REDIS, ' of a cluster'] as const) : ([MIN_REDIS, ''] as const);
  if (isOlder(version, needed))
    throw new Error(`Redis ${version} is too old: ${needed.join('.')} or later is needed${why}`);
  if (infoField(info, 'arch_bits') === '32') throw new Error('Redis is a 32-bit build: a 64-bit one is needed');
  if (!isOfCluster && infoField(info, 'cluster_enabled') === '1') {
    throw new Error('Redis is a node of a cluster: REDIS_URL must be redis+cluster://…');
  }
}

/**
 * Check that this Redis can store our jobs, mark it with our format at the first start, and load our scripts. In a
 * cluster, this covers every available primary.
 *
 * @throws Error when Redis is too old; FormatError when it contains jobs in another format; UNAVAILABLE
 */
export async function prepareRedis(store: Store): Promise<void> {
  await atEachPrimary(store.redis, (redis) => checkServer(redis, store.redis instanceof Cluster));

  // Write only if necessary, because a full Redis refuses every HSETNX, and no process could start.
  if (!(await checkFormat(store))) {
    await markFormat(store);
    await checkFormat(store); // A process of another version may have been faster.
  }
  if (store.settings.isClockManual) await startManualClock(store);
  // A full Redis refuses a new secret. The first call that needs the secret tries again.
  await idempotencySecretOf(store).catch((error: unknown) => {
    if (!(error instanceof YardmasterError && error.code === 'STORAGE_FULL')) throw error;
  });

  // Load the scripts now, because a call whose script is missing has to send it, and falls behind later calls.
  const { lua: _shared, ...scripts } = generated;
  const texts = Object.values(scripts).map((script) => textOn(store, script).text);
  await atEachPrimary(store.redis, (redis) => Promise.all(texts.map((text) => redis.script('LOAD', text))));
}

/** Format of all stored data. A process refuses any other. */
export const FORMAT = '1';

/** Stored data has another format or layout than this version uses. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

/**
 * Check that this version can read and write the stored data.
 *
 * @returns whether the data is marked; false before the first start, or if the mark is lost
 * @throws FormatError; UNAVAILABLE
 */
export async function checkFormat({ redis, keys }: Store): Promise<boolean> {
  const [partitions, format] = await withRedisErrors(redis.hmget(keys.meta, 'partitions', 'format'));
  if (partitions === null) return false;
  if (partitions !== String(PARTITIONS))
    throw new FormatError(`Redis contains jobs in ${partitions} partitions; this version uses ${PARTITIONS}`);
  if (format !== FORMAT)
    throw new FormatError(`Redis contains jobs in format ${format ?? 'unknown'}; this version uses ${FORMAT}`);
  return true;
}

/** Mark the data with its layout and format, unless it is already marked. @throws UNAVAILABLE, STORAGE_FULL */
export async function markFormat({ redis, keys }: Store): Promise<void> {
  await withRedisErrors(redis.hsetnx(keys.meta, 'format', FORMAT));
  await withRedisErrors(redis.hsetnx(keys.meta, 'partitions', PARTITIONS));
}
