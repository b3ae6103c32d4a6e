import { isDeepStrictEqual } from 'node:util';
import { afterEach, expect, it, jest } from '@jest/globals';
import { type Cluster, ClusterSubscriptions, createNodeSubscriber, createRedis } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import { createStore, partitionOf, prepareRedis } from '@yardmaster/store';
import { Registry } from 'prom-client';
import { createRedisSettingsWatch } from '../../../packages/server/src/redis-settings-watch.js';
import { during } from '../../support/during.js';
import { createJob, jobIn } from '../../support/jobs.js';
import { ask, info } from '../../support/redis/ask.js';
import { type ClusterNode, startCluster } from '../../support/redis/cluster.js';
import {
  beginMove,
  finishMove,
  handOver,
  moveKeys,
  moveSlot,
  ownerOf,
  type SlotMove,
  slotOf,
} from '../../support/redis/slots.js';
import { withService } from '../../support/service.js';
import { StreamClient } from '../../support/stream-client.js';
import { until } from '../../support/until.js';

const redis = during(startCluster, (cluster) => cluster.stop());
const service = withService({}, { redis });

const log = createLogger('test', 'silent');
const clients: Cluster[] = [];
const subscribers: ClusterSubscriptions[] = [];
afterEach(() => {
  for (const each of subscribers.splice(0)) each.end();
  for (const client of clients.splice(0)) client.disconnect();
});

/** Connect for commands, as a process does. */
async function connect(): Promise<Cluster> {
  const client = createRedis(redis.url, 'commands', log) as Cluster;
  clients.push(client);
  await client.connect();
  return client;
}

/** Call the stats of spaces in all parts of the cluster concurrently. */
async function burst(): Promise<number[]> {
  const spaces = Array.from({ length: 60 }, (_, n) => `space-${n}`);
  const responses = await Promise.all(spaces.map((space) => service.call('GET', `/spaces/${space}/stats`)));
  return responses.map(({ status }) => status);
}

const ALL_OK = Array.from({ length: 60 }, () => 200);

it('serves the first concurrent calls in all parts of a cluster', async () => {
  expect(await burst()).toEqual(ALL_OK);
});

const askNode = (node: ClusterNode, ...command: [string, ...(string | number)[]]) =>
  ask(redis.address(node), ...command);

/** Plan a move of the slot of a space to another primary. */
async function moveOf(space: string): Promise<SlotMove> {
  const slot = await slotOf(redis, `{${partitionOf(space)}}`);
  const from = await ownerOf(redis, slot);
  return { slot, from, to: (await redis.primaries()).find((other) => other !== from) as ClusterNode };
}

it('returns 503 and changes nothing while a slot of a cluster moves, and serves again after the move', async () => {
  const { key } = await service.key(['jobs:read']);
  const space = 'moving';
  const running = await Promise.all([1, 2, 3, 4, 5].map(() => jobIn(service, 'running', space)));
  const pending = await jobIn(service, 'pending', space);
  const stream = await StreamClient.open(service.url, `/${running[0]}?token=${key}`);
  const move = await moveOf(space);
  const keysOf = async (node: ClusterNode) => Number(await askNode(node, 'CLUSTER', 'COUNTKEYSINSLOT', move.slot));
  const calls = () =>
    Promise.all([
      ...running.map((id) => service.call('POST', `/jobs/${id}/complete`, { body: { result: 1 } })),
      service.call('POST', `/jobs/${pending}/claim`),
      service.call('POST', `/spaces/${space}/jobs`, { body: { name: 'new' } }),
      service.call('POST', `/spaces/${space}/jobs/poll`),
      service.call('POST', `/jobs/${pending}/logs`, { body: ['line'] }),
      service.call('GET', `/jobs/${pending}`),
      service.call('GET', `/spaces/${space}/jobs`),
    ]);

  await beginMove(redis, move);
  const total = await keysOf(move.from);
  // Before the first key has moved, after one, and before the last one.
  for (const step of [0, 1, total - 2]) {
    await moveKeys(redis, move, step);
    expect((await calls()).map(({ status }) => status)).toEqual(Array.from({ length: 11 }, () => 503));
    expect((await keysOf(move.from)) + (await keysOf(move.to))).toBe(total);
  }
  await moveKeys(redis, move, 1);
  await finishMove(redis, move);

  await until(async () => (await service.call('GET', `/jobs/${pending}`)).status === 200);
  for (const id of running)
    expect((await service.call('POST', `/jobs/${id}/complete`, { body: { result: 1 } })).status).toBe(200);
  await stream.next('completed');
  expect(stream.types()).toEqual(['init', 'completed']);
  const { body } = await service.call('POST', `/spaces/${space}/jobs/poll`);
  expect(body.jobs.map(({ id }: { id: string }) => id)).toEqual([pending]);
});

it('sends the events of a job on its stream after each move of its slot', async () => {
  const { key } = await service.key(['jobs:read']);
  const space = 'travelling';
  const id = await jobIn(service, 'running', space);
  const job = await StreamClient.open(service.url, `/${id}?token=${key}`);
  for (let n = 1; n <= 3; n++) {
    const move = await moveOf(space);
    await moveSlot(redis, move);
    const report = () => service.call('POST', `/jobs/${id}/progress`, { body: { percent: n, message: 'on' } });
    await until(async () => (await report()).status === 200);
    await until(() => job.messages.some(({ data }) => data?.percent === n));
  }
  expect(job.types()).toEqual([
    'init',
    ...job
      .types()
      .slice(1)
      .map(() => 'progress'),
  ]);
  await job.close();
});

it('expires jobs in other slots of a cluster while a slot with a due job moves', async () => {
  // A sweep visits the partitions in order: a failure in the first one must not end it.
  const [first, last] = Array.from({ length: 100 }, (_, n) => `timeouts-${n}`)
    .sort((a, b) => partitionOf(a).localeCompare(partitionOf(b)))
    .filter((_, n) => n === 0 || n === 99) as [string, string];
  const early = await jobIn(service, 'running', first, { timeoutSeconds: 1, maxRetries: 0 });
  const move = await moveOf(first);
  await beginMove(redis, move);
  const late = await jobIn(service, 'running', last, { timeoutSeconds: 1, maxRetries: 0 });
  const statusOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body.status;
  await until(async () => (await statusOf(late)) === 'dead');
  for (const node of [move.from, move.to]) await askNode(node, 'CLUSTER', 'SETSLOT', move.slot, 'STABLE');
  await until(async () => (await statusOf(early)) === 'dead');
});

it('does not retry commands that a broken cluster connection left without a reply', async () => {
  const space = 'lost-replies';
  await createJob(service, space);
  const { from } = await moveOf(space);
  // Scripts wait, and are lost with their connection.
  await askNode(from, 'CLIENT', 'PAUSE', 2_000, 'WRITE');
  const responses = Promise.all(
    Array.from({ length: 20 }, () => service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 1 } })),
  );
  // All of them have arrived, and wait behind the first.
  const unread = async () =>
    [...String(await askNode(from, 'CLIENT', 'LIST')).matchAll(/ qbuf=(\d+)/g)].map(([, bytes]) => Number(bytes));
  await until(async () => (await unread()).some((bytes) => bytes > 19 * 150));
  await askNode(from, 'CLIENT', 'KILL', 'TYPE', 'normal');
  expect((await responses).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 503));
  await askNode(from, 'CLIENT', 'UNPAUSE');

  await until(async () => (await service.call('GET', `/spaces/${space}/jobs`)).status === 200);
  const { body } = await service.call('GET', `/spaces/${space}/jobs`);
  expect(body.map(({ status }: { status: string }) => status)).toEqual(['pending']);
});

it('reads the last replies of a cluster node that it drops, and reconnects to the node', async () => {
  const client = await connect();
  const owner = await ownerOf(redis, await slotOf(redis, 'asked'));
  await client.set('asked', 0);
  // Writes wait.
  await ask(redis.address(owner), 'CLIENT', 'PAUSE', 10_000, 'WRITE');
  const response = client.incr('asked');
  const node = client.nodes('master').find(({ options }) => options.port === owner.port);
  // As ioredis does with a node that is missing in the table of slots.
  node?.disconnect();
  await ask(redis.address(owner), 'CLIENT', 'UNPAUSE');
  expect(await response).toBe(1);
  await until(() => node?.status === 'end');
  expect(await client.incr('asked')).toBe(2);
});

/** Count how often a node has received SSUBSCRIBE. */
async function subscribesAt(node: ClusterNode): Promise<number> {
  const { cmdstat_ssubscribe = '' } = await info(redis.address(node), 'commandstats');
  return Number(/^calls=(\d+)/.exec(cmdstat_ssubscribe)?.[1] ?? 0);
}

const nothing = () => undefined;

/** Make subscriptions of a client, with their own connections. */
function subscriptionsOf(client: Cluster): ClusterSubscriptions {
  const subscriptions = new ClusterSubscriptions(client, (node) => {
    const subscriber = createNodeSubscriber(node, log);
    subscriber.connect().catch(() => undefined);
    return { redis: subscriber, end: () => subscriber.disconnect() };
  });
  subscribers.push(subscriptions);
  return subscriptions;
}

it('receives messages of a cluster channel until it is removed, and then only of other channels of the slot', async () => {
  const client = await connect();
  const subscriptions = subscriptionsOf(client);
  const [one, other] = ['{07}:one', '{07}:other'];
  const heard: string[] = [];
  const listener = { message: (text: string) => void heard.push(text), lost: nothing, subscribed: nothing };
  for (const channel of [one, other]) subscriptions.add(channel, listener);
  expect(() => subscriptions.add(one, listener)).toThrow(`channel ${one} already has a listener`);
  await until(() => subscriptions.isSubscribed(one) && subscriptions.isSubscribed(other));

  subscriptions.remove(one);
  expect([subscriptions.isSubscribed(one), subscriptions.isSubscribed(other)]).toEqual([false, true]);
  const owner = redis.address(await ownerOf(redis, await slotOf(redis, one)));
  await until(async () => isDeepStrictEqual(await ask(owner, 'PUBSUB', 'SHARDNUMSUB', one, other), [one, 0, other, 1]));
  await client.spublish(one, 'removed');
  await client.spublish(other, 'subscribed');
  await until(() => heard.length > 0);
  expect(heard).toEqual(['subscribed']);
});

it('refreshes the table of cluster slots only while a channel is not subscribed', async () => {
  const client = await connect();
  const subscriptions = subscriptionsOf(client);
  const asks = jest.spyOn(client, 'refreshSlotsCache').mockReturnValue(undefined);
  // As when no primary is reachable.
  const nodes = jest.spyOn(client, 'nodes').mockReturnValue([]);
  subscriptions.add('{07}:asked', { message: nothing, lost: nothing, subscribed: nothing });
  nodes.mockRestore();
  expect(subscriptions.isSubscribed('{07}:asked')).toBe(false);
  subscriptions.check();
  expect(asks).toHaveBeenCalledTimes(1);
  await until(() => subscriptions.isSubscribed('{07}:asked'));
  asks.mockClear();
  subscriptions.check();
  expect(asks).not.toHaveBeenCalled();
});

it('a process starts while one primary of a cluster is down, but not while all are down or one is too old', async () => {
  const client = await connect();
  const primaries = client.nodes('master');
  // Connect first, because ioredis itself sends INFO while it connects.
  await Promise.all(primaries.map((node) => node.ping()));
  const infos = primaries.map((node) => jest.spyOn(node, 'info'));
  const prepare = () => prepareRedis(createStore(client, { keyPrefix: 'prepared' }));
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  infos[0]?.mockRejectedValue(away);
  await expect(prepare()).resolves.toBeUndefined();
  infos[0]?.mockResolvedValue('redis_version:6.2.0\r\n');
  await expect(prepare()).rejects.toThrow('Redis 6.2.0 is too old: 7.0 or later is needed of a cluster');
  for (const info of infos) info.mockRejectedValue(away);
  await expect(prepare()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

it('keeps the last known settings of a primary of a cluster that does not reply to the check', async () => {
  const client = await connect();
  const primaries = client.nodes('master');
  await Promise.all(primaries.map((node) => node.ping()));
  const infos = primaries.map((node) => jest.spyOn(node, 'info'));
  const safe = 'maxmemory:1\r\nmaxmemory_policy:noeviction\r\n';
  for (const info of infos) info.mockResolvedValue(safe);
  infos[0]?.mockResolvedValue('maxmemory:1\r\nmaxmemory_policy:allkeys-lru\r\n');
  const store = createStore(client, { keyPrefix: 'watched' });
  const watch = createRedisSettingsWatch({ store, log, registry: new Registry(), allowEviction: false });
  await watch.check();
  expect(store.known.isStorageSafe).toBe(false);
  infos[0]?.mockRejectedValueOnce(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  await watch.check();
  expect(store.known.isStorageSafe).toBe(false);
  infos[0]?.mockResolvedValue(safe);
  await watch.check();
  expect(store.known.isStorageSafe).toBe(true);
});

it('reports a channel as lost when its primary becomes a replica, until the new primary has it', async () => {
  const client = await connect();
  const subscriptions = subscriptionsOf(client);
  const heard: string[] = [];
  const note = (what: string) => () => void heard.push(what);
  subscriptions.add('{07}:messages', {
    message: note('message'),
    lost: note('lost'),
    subscribed: note('subscribed'),
  });
  await until(() => subscriptions.isSubscribed('{07}:messages'));

  const slot = await slotOf(redis, '{07}:messages');
  const old = await ownerOf(redis, slot);
  // The client does not learn of the new primary.
  const refresh = client.refreshSlotsCache;
  client.refreshSlotsCache = () => undefined;
  const before = await subscribesAt(old);
  await handOver(redis, slot);
  await until(async () => (await subscribesAt(old)) > before);
  // By the next SSUBSCRIBE, the reply to this one has arrived.
  await ask(redis.address(old), 'CLIENT', 'KILL', 'TYPE', 'pubsub');
  await until(async () => (await subscribesAt(old)) > before + 1);
  expect(heard).toEqual(['subscribed', 'lost']);

  client.refreshSlotsCache = refresh;
  await until(() => subscriptions.isSubscribed('{07}:messages'));
  expect(heard).toEqual(['subscribed', 'lost', 'subscribed']);
  await client.spublish('{07}:messages', 'a message');
  await until(() => heard.includes('message'));
});

it('serves concurrent calls after all cluster connections broke, once the first call is served', async () => {
  for (const node of redis.nodes) await ask(redis.address(node), 'CLIENT', 'KILL', 'TYPE', 'normal');
  await until(async () => (await service.call('GET', '/spaces/space-0/stats')).status === 200);
  expect(await burst()).toEqual(ALL_OK);
});
