import { afterEach, expect, it } from '@jest/globals';
import { ConnectionChecks, createRedis } from '@yardmaster/redis';
import { createLogger, every, type Service } from '@yardmaster/runtime';
import type { Redis } from 'ioredis';
import { during } from '../../support/during.js';
import { ask, info } from '../../support/redis/ask.js';
import { startSentinels } from '../../support/redis/sentinels.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';

const redis = during(startSentinels, (sentinels) => sentinels.stop());
const service = withService({}, { redis, hasDefaultTimeouts: true });

it('connects to the primary that Sentinels name when the old one refuses writes without replicas', async () => {
  const old = await redis.primary();
  const create = async () => (await service.call('POST', '/spaces/a/jobs', { body: { name: 'work' } })).status;
  expect(await create()).toBe(201);

  // Isolated from its replicas and the Sentinels, but not from the service: it does not become a replica.
  await ask(redis.address(old), 'CONFIG', 'SET', 'min-replicas-to-write', 1);
  await ask(redis.address(old), 'CONFIG', 'SET', 'min-replicas-max-lag', 1);
  await ask(redis.address(old), 'ACL', 'SETUSER', 'default', '-replicaof', '-slaveof', '-psync', '-ping', '-role');
  for (const each of redis.nodes) if (each !== old) await ask(redis.address(each), 'REPLICAOF', 'NO', 'ONE');
  await until(async () => (await info(redis.address(old), 'replication')).connected_slaves === '0');

  await until(async () => (await create()) === 201, 25_000);
  expect(await redis.primary()).not.toBe(old);
});

let client: Redis | null = null;
let checking: Service | null = null;

afterEach(async () => {
  await checking?.stop(0);
  client?.disconnect();
});

/** End the socket of a connection as ioredis does before it connects again. */
const endSocket = (of: Redis) => (of as unknown as { connector: { disconnect(): void } }).connector.disconnect();

it.each(['commands', 'subscriber'] as const)(
  'a connection for %s that ends while it asks the Sentinels for the primary reconnects',
  async (use) => {
    const connection = createRedis(redis.url, use, createLogger('test', 'silent')) as Redis;
    client = connection;
    const checks = new ConnectionChecks();
    checks.add(connection);
    checking = every({ name: 'checks', ms: 50, run: checks.run });
    await checking.start();
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
