import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Cluster, createLogger, createNodeSubscriber, createRedis } from '@yardmaster/runtime';
import { ClusterSubscriptions } from '@yardmaster/store';
import { ask, info } from '../support/redis/ask.js';
import { type ClusterNode, type RedisCluster, startCluster } from '../support/redis/cluster.js';
import { handOver, ownerOf, slotOf } from '../support/redis/slots.js';
import { until } from '../support/until.js';

const CHANNEL = '{07}:news';

const log = createLogger('test', 'silent');
let redis: RedisCluster;
let client: Cluster;
let subscriptions: ClusterSubscriptions;

beforeAll(async () => {
  redis = await startCluster();
  client = createRedis(redis.url, 'commands', log) as Cluster;
  await client.connect();
  subscriptions = new ClusterSubscriptions(client, (node) => {
    const subscriber = createNodeSubscriber(node, log);
    subscriber.connect().catch(() => undefined);
    return { redis: subscriber, end: () => subscriber.disconnect() };
  });
});

afterAll(async () => {
  subscriptions?.end();
  client?.disconnect();
  await redis?.stop();
});

/** How often a node was asked to subscribe to something. */
async function asksAt(node: ClusterNode): Promise<number> {
  const { cmdstat_ssubscribe = '' } = await info(redis.address(node), 'commandstats');
  return Number(/^calls=(\d+)/.exec(cmdstat_ssubscribe)?.[1] ?? 0);
}

it('a channel is not heard at a primary that has become a replica, before the new primary is known', async () => {
  const told: string[] = [];
  const tell = (what: string) => () => void told.push(what);
  subscriptions.add(CHANNEL, { message: tell('message'), lost: tell('lost'), subscribed: tell('subscribed') });
  await until(() => subscriptions.hears(CHANNEL));

  const slot = await slotOf(redis, CHANNEL);
  const old = await ownerOf(redis, slot);
  // Nobody tells the client of the new primary.
  const refresh = client.refreshSlotsCache;
  client.refreshSlotsCache = () => undefined;
  const asked = await asksAt(old);
  await handOver(redis, slot);
  await until(async () => (await asksAt(old)) > asked);
  // By the next time the answer to that is there.
  await ask(redis.address(old), 'CLIENT', 'KILL', 'TYPE', 'pubsub');
  await until(async () => (await asksAt(old)) > asked + 1);
  expect(told).toEqual(['subscribed', 'lost']);

  client.refreshSlotsCache = refresh;
  await until(() => subscriptions.hears(CHANNEL));
  expect(told).toEqual(['subscribed', 'lost', 'subscribed']);
  await client.spublish(CHANNEL, 'news');
  await until(() => told.includes('message'));
}, 30_000);
