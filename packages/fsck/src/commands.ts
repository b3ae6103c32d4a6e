import { readConfig } from '@yardmaster/runtime';
import { type FsckOptions, type FsckProgress, fsck } from './fsck.js';
import { withStore } from './open-store.js';
import { readRecord, type StoredRecord } from './record.js';

/** Unvalidated environment variables of the service. */
export type Variables = Record<string, string | undefined>;

/**
 * Check the stored data of a service with these variables.
 *
 * @throws as `fsck`; ConfigError, AccessError
 */
export async function runFsck(variables: Variables, options: FsckOptions): Promise<FsckProgress> {
  const windows = ['RETENTION_SECONDS', 'DELIVERY_TIMEOUT_SECONDS', 'COMPAT'] as const;
  const config = readConfig(variables, ['REDIS_URL', 'KEY_PREFIX', ...windows]);
  const settings = {
    keyPrefix: config.KEY_PREFIX,
    retentionMs: config.RETENTION_SECONDS * 1000,
    deliveryTimeoutMs: config.COMPAT === 'emit' ? 0 : config.DELIVERY_TIMEOUT_SECONDS * 1000,
  };
  return withStore(config.REDIS_URL, settings, (store) => fsck(store, options));
}

/**
 * Read the record of a job from a service with these variables.
 *
 * @throws as `readRecord`; ConfigError, AccessError
 */
export async function runShow(variables: Variables, jobId: string): Promise<StoredRecord | null> {
  const config = readConfig(variables, ['REDIS_URL', 'KEY_PREFIX']);
  return withStore(config.REDIS_URL, { keyPrefix: config.KEY_PREFIX }, (store) => readRecord(store, jobId));
}
