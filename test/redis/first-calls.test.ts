import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../support/redis/ask.js';
import { type RedisCluster, startCluster } from '../support/redis/cluster.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let redis: RedisCluster;
let service: TestService;

beforeAll(async () => {
  redis = await startCluster();
  service = await startService({}, { redisUrl: redis.url });
});

afterAll(async () => {
  await service?.stop().finally(() => redis?.stop());
});

/** Of spaces all over the cluster, at once. */
async function burst(): Promise<number[]> {
  const spaces = Array.from({ length: 60 }, (_, n) => `space-${n}`);
  const answers = await Promise.all(spaces.map((space) => service.call('GET', `/spaces/${space}/stats`)));
  return answers.map(({ status }) => status);
}

const ALL_WELL = Array.from({ length: 60 }, () => 200);

it('the first calls at once are all served', async () => {
  expect(await burst()).toEqual(ALL_WELL);
});

it('and so are those after every connection broke, once the first is', async () => {
  for (const node of redis.nodes) await ask(redis.address(node), 'CLIENT', 'KILL', 'TYPE', 'normal');
  await until(async () => (await service.call('GET', '/spaces/space-0/stats')).status === 200);
  expect(await burst()).toEqual(ALL_WELL);
});
