import { fsck as checkStored } from '@yardmaster/fsck';
import { primariesOf } from '@yardmaster/redis';
import type { Store } from '@yardmaster/store';
import type { Redis } from 'ioredis';

/**
 * Check all stored data with the product's fsck, which test/fsck tests.
 *
 * @returns one sentence per fault
 */
export async function fsck(store: Store): Promise<string[]> {
  const faults: string[] = [];
  await checkStored(store, { onFault: ({ kind, key, detail }) => void faults.push(`${kind}: ${key}: ${detail}`) });
  return faults;
}

/** List all keys of a prefix. */
export async function keysOf(redis: Redis, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for (const server of primariesOf(redis)) {
    for await (const batch of server.scanStream({ match: `${prefix}:*`, count: 1_000 }))
      keys.push(...(batch as string[]));
  }
  return [...new Set(keys)];
}

/**
 * Remove all jobs below a prefix with all their data. API keys and timers, which a running service needs, stay.
 */
export async function removeJobs(redis: Redis, prefix: string): Promise<void> {
  for (;;) {
    const keys = (await keysOf(redis, prefix)).filter((key) => /^\{..\}:/.test(key.slice(prefix.length + 1)));
    if (keys.length === 0) return;
    await Promise.all(keys.map((key) => redis.unlink(key)));
    // A running scheduler may have written some keys again in the meantime.
  }
}

/**
 * Return whether a key belongs to the history of a space. Processes write it shortly after the calls that it counts.
 */
export const isOfHistory = (name: string) =>
  /\{..\}:(space:[^/]+\/history\/(\d+\/\d+|points|names)|counted:\w+)$/.test(name);
