import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { jobIn, writeHistory } from '../support/jobs.js';
import { ADMIN_KEY } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { holdReply, type LateReplies, startLateReplies } from './late-replies.js';

// Moments that are too short to be hit by chance are held open here: a reply of Redis comes late.

let late: LateReplies;
let service: LateReplies['service'];
let backend: LateReplies['backend'];
beforeAll(async () => {
  late = await startLateReplies();
  ({ service, backend } = late);
});
afterAll(() => late.stop());

let id: string;
const clients: StreamClient[] = [];
beforeEach(async () => {
  id = await jobIn(service, 'running', 'race');
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });

async function open(path: string): Promise<StreamClient> {
  const client = await StreamClient.open(late.url, path);
  clients.push(client);
  return client;
}

it('sends what happens between the snapshot and its reply, though nothing comes after it', async () => {
  holdReply(backend.store.redis, 'evalsha', async () => {
    await post('event', 'in between');
    await post('complete', { result: 'last' });
    await late.untilHeard();
  });
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  await client.next('completed');
  expect(client.messages.map(({ type, status, data }) => [type, status, data])).toEqual([
    ['init', 'running', undefined],
    ['event', 'running', 'in between'],
    ['completed', 'completed', 'last'],
  ]);
});

it('closes with 1012 though the job goes on, from less than was shown, before the subscription is confirmed', async () => {
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  await post('event', 'shown');
  await client.next('event');
  const history = `${service.store.keys.job(id)}:events`;
  const { subscribe } = Redis.prototype;
  const spy = jest.spyOn(Redis.prototype, 'subscribe').mockImplementation(async function (this: Redis, ...channels) {
    const confirmed = await subscribe.apply(this, channels);
    if (!channels.includes(service.store.keys.jobChannel(id))) return confirmed;
    await service.redis.pipeline().rpop(history).rpush(history, `["event",${Date.now()},"another"]`).exec();
    await post('event', 'next');
    await late.untilHeard();
    return confirmed;
  });
  await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect(await client.end()).toMatchObject({ code: 1012 });
  spy.mockRestore();
  expect(client.messages.map(({ type, data }) => [type, data])).toEqual([
    ['init', undefined],
    ['event', 'shown'],
  ]);
});

it('sends what was missed when the connection is lost while the snapshot is read', async () => {
  holdReply(backend.store.redis, 'evalsha', async () => {
    await service.redis.pipeline().call('CLIENT', 'KILL', 'TYPE', 'pubsub').exec();
    await post('complete', { result: 'missed' });
    await until(() => backend.subscriptions.hears(service.store.keys.jobChannel(id)));
  });
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  expect(await client.next('completed')).toMatchObject({ data: 'missed' });
  expect(client.types()).toEqual(['init', 'completed']);
});

it('sends what happens while the init of a space is made', async () => {
  holdReply(backend.store.redis, 'time', async () => {
    await post('event', 'in between');
    await late.untilHeard();
  });
  const client = await open(`/spaces/race?token=${ADMIN_KEY}`);
  expect(await client.next('event')).toMatchObject({ data: 'in between' });
});

it('closes a space stream at once that was interrupted while its init was made', async () => {
  holdReply(backend.store.redis, 'time', async () => {
    await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until(() => !backend.subscriptions.hears(service.store.keys.spaceChannel('race')));
  });
  const client = await open(`/spaces/race?token=${ADMIN_KEY}`);
  expect(await client.end()).toMatchObject({ code: 1012 });
});

it('sends what comes live while the history is read after it, and nothing twice', async () => {
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  holdReply(backend.store.bulk, 'evalsha', async () => {
    for (const data of ['live 1', 'live 2']) await post('event', data);
    await late.untilHeard();
  });
  // An event that nobody was told of, and one that shows that it is missing.
  await writeHistory(service, id);
  await service.redis.rpush(`${service.store.keys.job(id)}:events`, '["event",1,"unheard"]');
  await post('event', 'shows the gap');
  await until(() => client.messages.at(-1)?.data === 'live 2');
  expect(client.messages.slice(1).map(({ data }) => data)).toEqual(['unheard', 'shows the gap', 'live 1', 'live 2']);
});

it('refuses a key that is revoked while its snapshot is read', async () => {
  const { id: keyId, key } = await service.key(['jobs:read']);
  holdReply(backend.store.redis, 'evalsha', async () => {
    await service.call('DELETE', `/keys/${keyId}`);
    await until(() => backend.keyRing.hasHeardRevoked(keyId));
  });
  await expect(open(`/${id}?token=${key}`)).rejects.toThrow('no stream');
});
