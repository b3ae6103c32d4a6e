import { expect, it } from '@jest/globals';
import { createStore, type RedisFault, readRedisSettings, redisFaultsOf } from '@yardmaster/store';
import { withConnection } from './store-under-test.js';

const redis = withConnection();

/** Read the settings of a Redis whose INFO has other values in some fields; null for a hidden field. */
async function settingsWith(fields: Record<string, string | null>) {
  const text = Object.entries(fields).reduce(
    (info, [name, value]) =>
      info.replace(new RegExp(`^${name}:.*$`, 'm'), () => (value === null ? '' : `${name}:${value}\r`)),
    await redis.info(),
  );
  const stubbed = Object.assign(Object.create(redis), { info: async () => text });
  const [settings] = await readRedisSettings(createStore(stubbed));
  if (settings === undefined) throw new Error('no settings');
  return settings;
}

// States that a Redis in a test cannot have, such as a full disk.
it.each<[Record<string, string | null>, RedisFault[]]>([
  [{}, []],
  [{ maxmemory_policy: 'volatile-lru', maxmemory: '1000' }, ['evicts']],
  [{ maxmemory_policy: 'allkeys-lfu', maxmemory: '0' }, []],
  [{ maxmemory_policy: null, maxmemory: '1000' }, []],
  [{ aof_last_write_status: 'err' }, ['aof_write']],
  [{ aof_last_bgrewrite_status: 'err' }, ['aof_rewrite']],
  [{ aof_enabled: '0', aof_last_write_status: 'err', aof_last_bgrewrite_status: 'err' }, []],
  [{ aof_enabled: null, aof_last_write_status: null, aof_last_bgrewrite_status: null }, []],
])('finds in INFO with %j exactly the faults %j', async (fields, faults) => {
  expect(redisFaultsOf(await settingsWith({ aof_enabled: '1', ...fields }))).toEqual(faults);
});

it('reads no settings while Redis loads its file, when its INFO shows no append-only file', async () => {
  await expect(settingsWith({ loading: '1', aof_enabled: '0' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

it.each<[before: string, now: string, RedisFault[]]>([
  ['7', '7', []],
  ['7', '8', ['evicted']],
  ['7', '0', []], // Redis has restarted.
])('compares the number of evicted keys with that of the previous check: %s, then %s', async (before, now, faults) => {
  const [first, second] = [await settingsWith({ evicted_keys: before }), await settingsWith({ evicted_keys: now })];
  expect(redisFaultsOf(first)).toEqual([]);
  expect(redisFaultsOf(second, first)).toEqual(faults);
});
