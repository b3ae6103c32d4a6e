import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createApiServer } from '@yardmaster/api';
import { type Backend, createBackend, createFront, type Front } from '@yardmaster/backend';
import { createStreams } from '@yardmaster/gateway';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { STANDALONE_VARIABLES } from '@yardmaster/standalone';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

// Moments that are too short to be hit by chance are held open here: a reply of Redis comes late.

// Of this file's own: it cuts connections of whoever subscribes.
let redis: OwnRedis;
let service: TestService;
let backend: Backend;
let front: Front;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({}, { redisUrl: redis.url });
  const env = { PORT: '0', ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: service.prefix, LOG_LEVEL: 'silent' };
  const config = readConfig(env, STANDALONE_VARIABLES);
  const log = createLogger('test', config.LOG_LEVEL);
  backend = createBackend({ ...config, REDIS_URL: redis.url }, log);
  const streams = createStreams({ backend, config, log });
  const server = createApiServer({ backend, config, log, streams });
  front = createFront({ name: 'test', backend, server, streams, config, log });
  await front.start();
});
afterAll(async () => {
  await front.stop();
  await service.stop();
  await redis.stop();
});

let id: string;
const clients: StreamClient[] = [];
beforeEach(async () => {
  id = await jobIn(service, 'running', 'race');
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });

/** Hold back the next reply of a command, whichever connection it is of, until `meanwhile` is over. */
function holdBack(
  connection: Backend['store']['redis'],
  command: 'evalsha' | 'time',
  meanwhile: () => Promise<void>,
): void {
  const original = connection[command].bind(connection) as (...args: unknown[]) => Promise<unknown>;
  connection[command] = (async (...args: unknown[]) => {
    const reply = await original(...args);
    connection[command] = original as never;
    await meanwhile();
    return reply;
  }) as never;
}

/** Wait until the gateway has heard all that was published so far: what comes behind it on the same connection is here. */
async function untilHeard(): Promise<void> {
  const heard = new Promise<void>((resolve) => {
    backend.subscriptions.add('marker', {
      message: () => resolve(),
      lost: () => undefined,
      subscribed: () => undefined,
    });
  });
  await until(() => backend.subscriptions.hears('marker'));
  await service.redis.publish('marker', 'x');
  await heard;
  backend.subscriptions.remove('marker');
}

async function open(path: string): Promise<StreamClient> {
  const client = await StreamClient.open(front.url(), path);
  clients.push(client);
  return client;
}

it('sends what happens between the snapshot and its reply, though nothing comes after it', async () => {
  holdBack(backend.store.redis, 'evalsha', async () => {
    await post('event', 'in between');
    await post('complete', { result: 'last' });
    await untilHeard();
  });
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  await client.next('completed');
  expect(client.messages.map(({ type, status, data }) => [type, status, data])).toEqual([
    ['init', 'running', undefined],
    ['event', 'running', 'in between'],
    ['completed', 'completed', 'last'],
  ]);
});

it('sends what was missed when the connection is lost while the snapshot is read', async () => {
  holdBack(backend.store.redis, 'evalsha', async () => {
    await service.redis.pipeline().call('CLIENT', 'KILL', 'TYPE', 'pubsub').exec();
    await post('complete', { result: 'missed' });
    await until(() => backend.subscriptions.hears(service.store.keys.jobChannel(id)));
  });
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  expect(await client.next('completed')).toMatchObject({ data: 'missed' });
  expect(client.types()).toEqual(['init', 'completed']);
});

it('sends what happens while the init of a space is made', async () => {
  holdBack(backend.store.redis, 'time', async () => {
    await post('event', 'in between');
    await untilHeard();
  });
  const client = await open(`/spaces/race?token=${ADMIN_KEY}`);
  expect(await client.next('event')).toMatchObject({ data: 'in between' });
});

it('closes a space stream at once that was interrupted while its init was made', async () => {
  holdBack(backend.store.redis, 'time', async () => {
    await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until(() => !backend.subscriptions.hears(service.store.keys.spaceChannel('race')));
  });
  const client = await open(`/spaces/race?token=${ADMIN_KEY}`);
  expect(await client.end()).toMatchObject({ code: 1012 });
});

it('sends what comes live while the history is read after it, and nothing twice', async () => {
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  holdBack(backend.store.bulk, 'evalsha', async () => {
    for (const data of ['live 1', 'live 2']) await post('event', data);
    await untilHeard();
  });
  // An event that nobody was told of, and one that shows that it is missing.
  await service.redis.rpush(`${service.store.keys.job(id)}:events`, '["event",1,"unheard"]');
  await post('event', 'shows the gap');
  await until(() => client.messages.at(-1)?.data === 'live 2');
  expect(client.messages.slice(1).map(({ data }) => data)).toEqual(['unheard', 'shows the gap', 'live 1', 'live 2']);
});

it('refuses a key that is revoked while its snapshot is read', async () => {
  const { id: keyId, key } = await service.key(['jobs:read']);
  holdBack(backend.store.redis, 'evalsha', async () => {
    await service.call('DELETE', `/keys/${keyId}`);
    await until(() => backend.keyRing.hasHeardRevoked(keyId));
  });
  await expect(open(`/${id}?token=${key}`)).rejects.toThrow('no stream');
});
