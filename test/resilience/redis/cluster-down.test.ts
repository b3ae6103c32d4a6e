import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../../support/redis/ask.js';
import { type RedisCluster, startCluster } from '../../support/redis/cluster.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

let redis: RedisCluster;
let service: TestService;

beforeAll(async () => {
  redis = await startCluster();
  for (const node of redis.nodes)
    await ask(redis.address(node), 'CONFIG', 'SET', 'cluster-require-full-coverage', 'yes');
  service = await startService({}, { redis, hasDefaultTimeouts: true });
});

afterAll(async () => {
  await service?.stop().finally(() => redis?.stop());
});

const ready = async () => (await service.http.call('GET', '/readyz')).status;

it('is not ready while the cluster refuses everything for want of one shard, and ready again after that', async () => {
  expect(await ready()).toBe(200);
  // On a busy machine a replica may have become the primary by now.
  const roles = await Promise.all(redis.nodes.map((node) => node.roleNow()));
  // All replicas first: nobody can take over.
  for (const [i, node] of redis.nodes.entries()) if (roles[i] === 'replica') await node.kill();
  const primary = redis.nodes[roles.indexOf('primary')];
  await primary?.kill();
  await until(async () => (await ready()) === 503);
  await primary?.resume();
  await until(async () => (await ready()) === 200);
});
