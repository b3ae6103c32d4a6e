import { afterEach, expect, it } from '@jest/globals';
import { createRedis, keepAlive } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import type { Redis } from 'ioredis';
import { during } from '../../support/during.js';
import { startSentinels } from '../../support/redis/sentinels.js';
import { until } from '../../support/until.js';

const redis = during(startSentinels, (sentinels) => sentinels.stop());
let client: Redis | null = null;
let stopWatching: (() => void) | null = null;

afterEach(() => {
  stopWatching?.();
  client?.disconnect();
});

/** End the socket of a connection as ioredis does before it connects again. */
const endSocket = (of: Redis) => (of as unknown as { connector: { disconnect(): void } }).connector.disconnect();

it.each(['commands', 'subscriber'] as const)(
  'a connection for %s that ends while it asks the Sentinels for the primary connects again',
  async (use) => {
    const connection = createRedis(redis.url, use, createLogger('test', 'silent')) as Redis;
    client = connection;
    stopWatching = keepAlive(connection, { everyMs: 50 });
    await connection.connect();

    const statuses: string[] = [];
    connection.on('end', () => statuses.push('end'));
    connection.once('connecting', () => setImmediate(() => endSocket(connection)));
    endSocket(connection);
    await until(() => statuses.includes('end'));

    await until(() => connection.status === 'ready');
    expect(await connection.ping()).toBe('PONG');
  },
);
