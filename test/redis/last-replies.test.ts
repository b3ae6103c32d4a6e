import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Cluster, createLogger, createRedis } from '@yardmaster/runtime';
import { ask } from '../support/redis/ask.js';
import { type ClusterNode, type RedisCluster, startCluster } from '../support/redis/cluster.js';
import { ownerOf, slotOf } from '../support/redis/slots.js';
import { until } from '../support/until.js';

const KEY = 'asked';

let redis: RedisCluster;
let client: Cluster;
let owner: ClusterNode;

beforeAll(async () => {
  redis = await startCluster();
  owner = await ownerOf(redis, await slotOf(redis, KEY));
  client = createRedis(redis.url, 'commands', createLogger('test', 'silent')) as Cluster;
  await client.connect();
});

afterAll(async () => {
  client?.disconnect();
  await redis?.stop();
});

it('a node that the cluster lets go of answers what it was asked, and is found again', async () => {
  await client.set(KEY, 0);
  // Writes wait.
  await ask(redis.address(owner), 'CLIENT', 'PAUSE', 10_000, 'WRITE');
  const answer = client.incr(KEY);
  const node = client.nodes('master').find(({ options }) => options.port === owner.port);
  // As ioredis does with one that the table of slots does not name.
  node?.disconnect();
  await ask(redis.address(owner), 'CLIENT', 'UNPAUSE');
  expect(await answer).toBe(1);
  await until(() => node?.status === 'end');
  expect(await client.incr(KEY)).toBe(2);
});
