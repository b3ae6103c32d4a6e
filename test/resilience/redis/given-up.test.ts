import { afterEach, expect, it } from '@jest/globals';
import { createRedis, keepAlive } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import type { Redis } from 'ioredis';
import { type Sentinels, startSentinels } from '../../support/redis/sentinels.js';
import { until } from '../../support/until.js';

let redis: Sentinels | null = null;
let client: Redis | null = null;
let stopWatching: (() => void) | null = null;

afterEach(async () => {
  stopWatching?.();
  client?.disconnect();
  await redis?.stop();
});

/** As ioredis ends the socket of a connection, to make it anew. */
const endSocket = (of: Redis) => (of as unknown as { connector: { disconnect(): void } }).connector.disconnect();

it.each(['commands', 'subscriber'] as const)(
  'a connection for %s that is ended while Sentinels are asked for the primary is made again',
  async (use) => {
    redis = await startSentinels();
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
