import { afterEach, expect, it, jest } from '@jest/globals';
import { prepareRedis } from '@yardmaster/store';
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
