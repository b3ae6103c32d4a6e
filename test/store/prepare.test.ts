import { afterEach, expect, it, jest } from '@jest/globals';
import { prepareRedis } from '@yardmaster/store';
import { storeUnderTest, withConnection } from './store-under-test.js';

const redis = withConnection();
afterEach(() => void jest.restoreAllMocks());

const GOOD = { redis_version: '7.0.15', cluster_enabled: '0' };

/** Prepare a Redis that answers INFO with these fields. */
async function prepare(says: Record<string, string>) {
  await redis.ping(); // ioredis asks for INFO, too, before a connection is ready.
  const lines = Object.entries(says).map((line) => `${line.join(':')}\r\n`);
  jest.spyOn(redis, 'info').mockResolvedValue(`# Server\r\n${lines.join('')}`);
  return prepareRedis(storeUnderTest(redis).store);
}

it.each([GOOD, { ...GOOD, redis_version: '6.2.0' }, { redis_version: '10.0.0' }])(
  'accepts a Redis whose INFO is %j',
  async (says) => {
    await expect(prepare(says)).resolves.toBeUndefined();
  },
);

it.each([
  [{ ...GOOD, redis_version: '6.0.16' }, 'Redis 6.0.16 is too old: 6.2 or later is needed'],
  [{ ...GOOD, redis_version: '5.3.1' }, 'Redis 5.3.1 is too old'],
  [{}, 'Redis 0 is too old'],
  [{ ...GOOD, cluster_enabled: '1' }, 'Redis is a node of a cluster: REDIS_URL must be redis+cluster://'],
])('refuses a Redis whose INFO is %j', async (says, error) => {
  await expect(prepare(says)).rejects.toThrow(error);
});
