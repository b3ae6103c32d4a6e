import { afterEach, expect, it } from '@jest/globals';
import { ask, info } from '../../support/redis/ask.js';
import { type Sentinels, startSentinels } from '../../support/redis/sentinels.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

let redis: Sentinels | null = null;
let service: TestService | null = null;

afterEach(async () => {
  await service?.stop().finally(() => redis?.stop());
});

it('a primary that refuses to write for want of replicas is left for the one that Sentinels name', async () => {
  redis = await startSentinels();
  service = await startService({}, { redis, hasDefaultTimeouts: true });
  const old = await redis.primary();
  const create = async () => (await service?.call('POST', '/spaces/a/jobs', { body: { name: 'work' } }))?.status;
  expect(await create()).toBe(201);

  // Cut off from its replicas and from the Sentinels, but not from us: it hears of no failover, and is not made a replica.
  await ask(redis.address(old), 'CONFIG', 'SET', 'min-replicas-to-write', 1);
  await ask(redis.address(old), 'CONFIG', 'SET', 'min-replicas-max-lag', 1);
  await ask(redis.address(old), 'ACL', 'SETUSER', 'default', '-replicaof', '-slaveof', '-psync', '-ping', '-role');
  for (const each of redis.nodes) if (each !== old) await ask(redis.address(each), 'REPLICAOF', 'NO', 'ONE');
  await until(async () => (await info((redis as Sentinels).address(old), 'replication')).connected_slaves === '0');

  await until(async () => (await create()) === 201, 25_000);
  expect(await (redis as Sentinels).primary()).not.toBe(old);
}, 60_000);
