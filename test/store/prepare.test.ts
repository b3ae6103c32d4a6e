import { afterEach, expect, it, jest } from '@jest/globals';
import {
  createStore,
  FORMAT,
  FormatError,
  prepareRedis,
  type RedisFault,
  readRedisSettings,
  redisFaultsOf,
} from '@yardmaster/store';
import { storeUnderTest, withConnection } from './store-under-test.js';

const redis = withConnection();
afterEach(() => void jest.restoreAllMocks());

const GOOD = { redis_version: '7.0.15', cluster_enabled: '0' };

/** Prepare a Redis that replies to INFO with these fields. */
async function prepare(info: Record<string, string>) {
  await redis.ping(); // ioredis also sends INFO before a connection is ready.
  const fields = Object.entries(info).map((field) => `${field.join(':')}\r\n`);
  jest.spyOn(redis, 'info').mockResolvedValue(`# Server\r\n${fields.join('')}`);
  return prepareRedis(storeUnderTest(redis).store);
}

it.each([GOOD, { ...GOOD, redis_version: '6.2.0' }, { redis_version: '10.0.0' }])(
  'accepts a Redis whose INFO is %j',
  async (info) => {
    await expect(prepare(info)).resolves.toBeUndefined();
  },
);

it.each([
  [{ ...GOOD, redis_version: '6.0.16' }, 'Redis 6.0.16 is too old: 6.2 or later is needed'],
  [{ ...GOOD, redis_version: '5.3.1' }, 'Redis 5.3.1 is too old'],
  [{}, 'Redis 0 is too old'],
  [{ ...GOOD, cluster_enabled: '1' }, 'Redis is a node of a cluster: REDIS_URL must be redis+cluster://'],
])('refuses a Redis whose INFO is %j', async (info, error) => {
  await expect(prepare(info)).rejects.toThrow(error);
});

it('marks an empty Redis with its layout and format once', async () => {
  const { store } = storeUnderTest(redis);
  await redis.del(store.keys.meta);
  for (let n = 0; n < 2; n++) await prepareRedis(store);
  expect(await redis.hgetall(store.keys.meta)).toMatchObject({ partitions: '64', format: FORMAT });
});

it('refuses stored data in a different format, and leaves it unchanged', async () => {
  const { store } = storeUnderTest(redis);
  await redis.hset(store.keys.meta, { partitions: '64', format: '2' });
  await expect(prepareRedis(store)).rejects.toThrow(FormatError);
  expect(await redis.hgetall(store.keys.meta)).toEqual({ partitions: '64', format: '2' });
});

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

it('does not read the settings while Redis loads its file, because INFO shows no append-only file then', async () => {
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
