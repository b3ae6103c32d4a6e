import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createJob, jobIn, writeHistory } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { subscribe } from '../support/subscribe.js';
import { until } from '../support/until.js';

let redis: OwnRedis;
let service: TestService;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({}, { redisUrl: redis.url });
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
});

const clients: StreamClient[] = [];
const open = async (path: string) => {
  const client = await StreamClient.open(service.url, path);
  clients.push(client);
  return client;
};
const openFull = (id: string) => open(`/${id}?token=${ADMIN_KEY}`);
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'cut');
});

const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });

/** Cut the connections over which messages come, and right behind it, before anybody can be back, let events happen. */
async function cutAndMiss(events: readonly unknown[]): Promise<void> {
  await until(async () => (await subscribers()) !== ''); // Back since the last cut.
  const killed = service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  const sent = events.map((data) => post('event', data));
  expect(await killed).toBeGreaterThan(0);
  for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
}

const subscribers = async () => ((await service.redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string).trim();

const dataOf = (client: StreamClient) => client.messages.filter(({ type }) => type === 'event').map(({ data }) => data);

it('shows every event once and in order although the connection to Redis is cut 20 times', async () => {
  const [full, anonymous] = [await openFull(id), await open(`/${id}`)];
  const expected: unknown[] = [];
  for (let cut = 0; cut < 20; cut++) {
    const events = [0, 1, 2].map((n) => `cut ${cut}, event ${n}`);
    await cutAndMiss(events);
    await post('progress', { percent: cut, message: `cut ${cut}` });
    expected.push(...events);
    // Half of the time the next cut comes before the gap is closed.
    if (cut % 2 === 0) await until(() => dataOf(full).length === expected.length);
  }
  await post('complete', { result: 'whole' });
  await full.next('completed');
  await anonymous.next('completed');
  expect(dataOf(full).sort()).toEqual(expected.sort());
  const { events } = (await service.call('GET', `/jobs/${id}`)).body;
  // As the history has it, from the connection on: created, delivered and acked came before.
  const shown = full.messages.slice(1).map(({ type, data, timestamp }) => ({ type, data, createdAt: timestamp }));
  expect(shown).toEqual(
    events.slice(3).map(({ type, data, createdAt }: Record<string, unknown>) => ({ type, data, createdAt })),
  );
  expect(anonymous.messages.map(({ type, data }) => [type, data?.percent])).toEqual([
    ['init', undefined],
    ...Array.from({ length: 20 }, (_, cut) => ['progress', cut]),
    ['completed', undefined],
  ]);
  expect(full.closed).toBeNull();
});

it('shows what was missed even when nothing happens after it', async () => {
  const client = await openFull(id);
  await cutAndMiss(['missed']);
  expect(await client.next('event')).toMatchObject({ data: 'missed' });
});

it('closes a space stream with 1012 when its connection to Redis is cut, and the next one is whole', async () => {
  const client = await open(`/spaces/cut?token=${ADMIN_KEY}`);
  await cutAndMiss(['missed']);
  expect(await client.end()).toEqual({ code: 1012, reason: 'messages may be missing' });
  const next = await open(`/spaces/cut?token=${ADMIN_KEY}`);
  await createJob(service, 'cut');
  expect(await next.next('created')).toMatchObject({ spaceId: 'cut', status: 'pending' });
});

it('closes with 1012 when the history has dropped what a client missed', async () => {
  const client = await openFull(id);
  await post('event', 'seen');
  await client.next('event');
  const job = service.store.keys.job(id);
  const length = await service.redis.llen(`${job}:events`);
  // In one go, so that nobody can be back in between: two more events, of which the first is dropped.
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpush(`${job}:events`, '["event",1,"dropped"]', '["event",2,"kept"]')
    .ltrim(`${job}:events`, -1, -1)
    .hset(job, 'eventsDropped', length + 1)
    .exec();
  expect(await client.end()).toEqual({ code: 1012, reason: 'messages may be missing' });
  expect((await openFull(id)).messages[0]).toMatchObject({ type: 'init', status: 'running' });
});

it('closes with 1012 when Redis comes back with less than a client has seen', async () => {
  const client = await openFull(id);
  await post('event', 'lasts');
  await until(() => dataOf(client).length === 1);
  // As after a failover to a replica that lagged behind.
  await service.redis.rpop(`${service.store.keys.job(id)}:events`);
  await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect(await client.end()).toEqual({ code: 1012, reason: 'messages may be missing' });
});

it('closes with 1012 when Redis comes back with less than a client has seen, and goes on from there at once', async () => {
  const client = await openFull(id);
  const { at } = await published(id);
  await until(() => dataOf(client).length === 1);
  // In one go, so that nobody can be back in between: another event is in the place of the one that was shown.
  const history = `${service.store.keys.job(id)}:events`;
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpop(history)
    .rpush(history, `["event",${at + 1_000},"another"]`, `["event",${at + 1_001},"and more"]`)
    .exec();
  expect(await client.end()).toEqual({ code: 1012, reason: 'messages may be missing' });
  expect(dataOf(client)).toEqual(['first']);
});

it('closes with 1012 when what the init of a client told did not last', async () => {
  await post('event', 'before');
  const client = await openFull(id);
  const history = `${service.store.keys.job(id)}:events`;
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpop(history)
    .rpush(history, `["event",${Date.now() + 1_000},"another"]`)
    .exec();
  expect(await client.end()).toEqual({ code: 1012, reason: 'messages may be missing' });
});

it('closes with 1012 when the job is gone after a cut', async () => {
  const client = await openFull(id);
  await service.redis.flushall();
  await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect(await client.end()).toMatchObject({ code: 1012 });
});

describe('a gap without a cut', () => {
  it('is closed from the history, in order', async () => {
    const client = await openFull(id);
    // A message that Redis never passed on: the event is there, and nobody was told.
    const { at } = await published(id);
    await service.redis.rpush(`${service.store.keys.job(id)}:events`, `["event",${at},"unheard"]`);
    await post('event', 'heard');
    await until(() => dataOf(client).includes('heard'));
    expect(dataOf(client)).toEqual(['first', 'unheard', 'heard']);
  });

  it('never shows an old message again', async () => {
    const client = await openFull(id);
    const { message } = await published(id);
    await service.redis.publish(service.store.keys.jobChannel(id), message);
    await post('event', 'later');
    await until(() => dataOf(client).includes('later'));
    expect(dataOf(client)).toEqual(['first', 'later']);
  });
});

/** Let an event happen, and return its message as it was published. */
async function published(jobId: string): Promise<{ message: string; at: number }> {
  const listener = service.redis.duplicate();
  const heard = new Promise<string>((resolve) => listener.on('message', (_, text) => resolve(text)));
  await subscribe(listener, service.store.keys.jobChannel(jobId));
  await post('event', 'first');
  const message = await heard;
  listener.disconnect();
  return { message, at: JSON.parse(message).at };
}

const GARBAGE = [
  'no JSON',
  'null',
  '[]',
  '{"seq":null,"type":"progress"}',
  '{"seq":2,"jobId":"x","jobName":"x","spaceId":"x","type":"event","status":"running","data":1,"at":"x"}',
  '{"seq":2,"jobId":"x","jobName":"x","spaceId":"x","type":"event","status":"running","data":1,"at":1e99}',
  '{"seq":0.5,"jobId":"x","jobName":"x","spaceId":"x","type":"event","status":"running","data":1,"at":1}',
];

it.each(GARBAGE)('survives a message that is no event: %s', async (garbage) => {
  const [client, space] = [await openFull(id), await open(`/spaces/cut?token=${ADMIN_KEY}`)];
  await service.redis.publish(service.store.keys.jobChannel(id), garbage);
  await service.redis.publish(service.store.keys.spaceChannel('cut'), garbage);
  await post('event', 'after');
  expect(await client.next('event')).toMatchObject({ data: 'after' });
  await space.next('event');
  expect(space.types()).toEqual(['init', 'event']);
});

it('catches up a client that reads as fast as it can with megabytes, and does not give it up', async () => {
  const client = await openFull(id);
  const large = 'x'.repeat(60_000);
  await until(async () => (await subscribers()) !== '');
  await writeHistory(service, id);
  const at = Date.now();
  // In one go: nobody can be back in between.
  const entries = Array.from({ length: 120 }, (_, n) => JSON.stringify(['event', at, { n, large }]));
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpush(`${service.store.keys.job(id)}:events`, ...entries)
    .exec();
  await until(() => dataOf(client).length === entries.length);
  expect(dataOf(client).map((data) => (data as { n: number }).n)).toEqual([...Array(entries.length).keys()]);
});

it('keeps job streams over a restart of Redis and shows what happened then', async () => {
  const [client, space] = [await openFull(id), await open(`/spaces/cut?token=${ADMIN_KEY}`)];
  await post('event', 'before');
  await until(() => dataOf(client).length === 1);
  await redis.halt();
  expect(await space.end()).toMatchObject({ code: 1012 });
  await redis.resume();
  await until(async () => (await post('event', 'after')).status === 200);
  await until(() => dataOf(client).length > 1);
  expect(dataOf(client)).toEqual(['before', 'after']);
  expect(await subscribers()).not.toBe('');
});

it('closes space streams and catches job streams up when Redis hangs with its connections open', async () => {
  const [client, space] = [await openFull(id), await open(`/spaces/cut?token=${ADMIN_KEY}`)];
  process.kill(redis.pid(), 'SIGSTOP');
  try {
    expect(await space.end()).toMatchObject({ code: 1012 });
  } finally {
    process.kill(redis.pid(), 'SIGCONT');
  }
  await until(async () => (await post('event', 'after')).status === 200);
  await until(() => dataOf(client).includes('after'));
  expect(client.closed).toBeNull();
});
