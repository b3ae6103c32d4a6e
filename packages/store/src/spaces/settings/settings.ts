import { changedSettings, type SettingsChange, type SpaceSettings, YardmasterError } from '@yardmaster/protocol';
import { publish } from '@yardmaster/redis';
import { call } from '../../call.js';
import { PARTITION_TAGS, partitionOf } from '../../keys.js';
import { runScript } from '../../script/run-script.js';
import { set_settings } from '../../script/scripts.generated.js';
import type { Caller, Store } from '../../store.js';
import { settingsOfText, storedSettings } from './known-settings.js';

/** Number of tries when others change the same settings at the same time. */
const TRIES = 10;

/**
 * Read the settings of a space from Redis. Only those that are set are present.
 *
 * @throws UNAVAILABLE
 */
export async function readSettings(store: Store, spaceId: string): Promise<SpaceSettings> {
  return settingsOfText(await textOf(store, spaceId));
}

/**
 * Change settings of a space, even on a full Redis. The change takes effect immediately in this process, and in the others
 * when they receive the message.
 *
 * @returns the new settings, and whether they differ from the previous ones
 * @throws FORBIDDEN for a limit that only a key without a space may raise; OVERLOADED when others keep changing them;
 *   UNAVAILABLE
 * @see docs/api/spaces.md#settings
 */
export async function changeSettings(
  store: Store,
  caller: Caller,
  spaceId: string,
  change: SettingsChange,
): Promise<{ settings: SpaceSettings; isChanged: boolean }> {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = await textOf(store, spaceId);
    const after = changedSettings(settingsOfText(before), change, caller.spaceId === null);
    const isEmpty = Object.keys(after).length === 0;
    const text = isEmpty ? '' : storedSettings(after);
    if (text === (before ?? '')) return { settings: after, isChanged: false };
    const { outcome } = await runScript(store, set_settings, {
      keys: { settings: keyOf(store, spaceId) },
      args: {
        base: store.keys.baseOfSpace(spaceId),
        space: spaceId,
        before: before ?? '',
        after: text,
        maxBytes: after.maxBytes ?? '',
      },
    });
    if (outcome === 'CHANGED') continue;
    store.known.spaces.change(spaceId, after);
    // The call does not wait for the message, because processes notice the change even without it.
    const told = publish(store.redis, store.keys.settingsChannel, partitionOf(spaceId));
    call(store, 'publish', told).catch(() => undefined);
    return { settings: after, isChanged: true };
  }
  throw new YardmasterError('OVERLOADED');
}

const keyOf = (store: Store, spaceId: string) => store.keys.settings(partitionOf(spaceId));
const textOf = (store: Store, spaceId: string) => call(store, 'hget', store.redis.hget(keyOf(store, spaceId), spaceId));

/**
 * Load the settings of all spaces of a partition into this process.
 *
 * @throws UNAVAILABLE
 */
export async function loadSettings(store: Store, partition: string): Promise<void> {
  const key = store.keys.settings(partition);
  store.known.spaces.replace(partition, await call(store, 'hgetall', store.redis.hgetall(key)));
}

/**
 * Load the settings of partitions in which they have changed, at the cost of one short command per partition.
 *
 * @throws UNAVAILABLE when a partition could not be read; the others are loaded
 */
export async function refreshSettings(store: Store): Promise<void> {
  const refresh = async (partition: string) => {
    const version = await call(store, 'hget', store.redis.hget(store.keys.settings(partition), ''));
    if (version !== store.known.spaces.versionOf(partition)) await loadSettings(store, partition);
  };
  const outcomes = await Promise.allSettled(PARTITION_TAGS.map(refresh));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
