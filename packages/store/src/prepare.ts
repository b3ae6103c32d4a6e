import { PARTITIONS } from './partition.js';
import { asked } from './redis-errors.js';
import * as scripts from './scripts.generated.js';
import type { Store } from './store.js';

/** Oldest Redis whose commands and script rules ours rely on. */
const MIN_REDIS = [6, 2] as const;

function isOldRedis(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < MIN_REDIS[0] || (major === MIN_REDIS[0] && minor < MIN_REDIS[1]);
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

/**
 * Check that this Redis can hold our jobs, mark it as ours at the first start, and give it our scripts.
 *
 * @returns warnings for the operator: what works but will lose jobs one day
 * @throws Error when the Redis is too old, or holds jobs in another layout; UNAVAILABLE
 */
export async function prepareRedis(store: Store): Promise<string[]> {
  const info = await asked(store.redis.info());
  const version = fieldOf(info, 'redis_version') ?? '0';
  if (isOldRedis(version)) throw new Error(`Redis ${version} is too old: ${MIN_REDIS.join('.')} or later is needed`);

  const partitions = await partitionsOf(store);
  if (partitions !== String(PARTITIONS)) {
    throw new Error(`Redis holds jobs spread over ${partitions} partitions, this release uses ${PARTITIONS}`);
  }

  // Calls that find a script missing send it again and so fall behind calls that came later: better not at start.
  await asked(Promise.all(Object.values(scripts).map(({ text }) => store.redis.script('LOAD', text))));

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
