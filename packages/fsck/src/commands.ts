import { readConfig } from '@yardmaster/runtime';
import { FORMAT, isInUse, raiseFormat, readFormat, type Store } from '@yardmaster/store';
import { type FsckOptions, type FsckProgress, fsck } from './fsck.js';
import { AccessError, withStore } from './open-store.js';

/** Environment variables of the service, not validated. */
export type Variables = Record<string, string | undefined>;

/**
 * Check the stored data of the service that has these variables.
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

/** The storage format that a command found, and the highest that this release knows. */
export interface FoundFormat {
  found: number;
  highest: number;
}

/**
 * Read the storage format of the service that has these variables, and raise it if asked to.
 *
 * @returns `found` is the format before it was raised
 * @throws ConfigError, AccessError; FormatError when the format is of a newer release
 */
export async function runFormat(variables: Variables, isRaising: boolean): Promise<FoundFormat> {
  const config = readConfig(variables, ['REDIS_URL', 'KEY_PREFIX']);
  return withStore(config.REDIS_URL, { keyPrefix: config.KEY_PREFIX }, async (store) => {
    await expectData(store);
    return { found: await (isRaising ? raiseFormat(store) : readFormat(store)), highest: FORMAT };
  });
}

/** Refuse a prefix without data, because a format would otherwise be written under a wrong prefix. */
async function expectData(store: Store): Promise<void> {
  if (await isInUse(store)) return;
  const { keyPrefix } = store.settings;
  throw new AccessError(`there is no Yardmaster data under the prefix ${keyPrefix}; check REDIS_URL and KEY_PREFIX`);
}
