import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { createJob, jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// A Redis of its own, and the API alone: its counters count the commands of calls only.
let redis: OwnRedis;
let service: TestService;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({}, { redisUrl: redis.url, app: createApi });
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
});

/** How often Redis says it was sent EVALSHA. */
async function evalshaCalls(): Promise<number> {
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(await service.redis.info('commandstats'))?.[1] ?? 0);
}

/**
 * The commands that Redis was sent between two moments, by name; what scripts called is told apart by its source.
 * The pings of the service's own watch are left out.
 */
async function commandsDuring(act: () => Promise<void>): Promise<string[]> {
  const monitor = await service.redis.monitor();
  const seen: string[] = [];
  monitor.on('monitor', (_time: string, [name, argument]: string[], source: string) => {
    if (source !== 'lua' && name !== 'ping') seen.push(name === 'echo' ? `echo ${argument}` : (name as string));
  });
  const end = `echo ${randomUUID()}`;
  await act();
  await service.redis.echo(end.slice('echo '.length));
  await until(() => seen.includes(end));
  monitor.disconnect();
  return seen.slice(0, seen.indexOf(end));
}

interface Hot {
  name: string;
  prepare: () => Promise<string>;
  path: (id: string) => string;
  body?: unknown;
}

const running = (fields = {}) => jobIn(service, 'running', 'hot', fields);

const HOT: Hot[] = [
  {
    name: 'create',
    prepare: async () => '',
    path: () => '/spaces/hot/jobs',
    body: { name: 'work', payload: { n: 1 }, callbackUrl: 'http://x.example/' },
  },
  {
    name: 'poll',
    prepare: async () => (await createJob(service, 'hot-poll')).id,
    path: () => '/spaces/hot-poll/jobs/poll',
    body: { count: 50 },
  },
  { name: 'claim', prepare: () => jobIn(service, 'pending', 'hot'), path: (id) => `/jobs/${id}/claim` },
  { name: 'ack', prepare: () => jobIn(service, 'delivered', 'hot'), path: (id) => `/jobs/${id}/ack` },
  { name: 'progress', prepare: running, path: (id) => `/jobs/${id}/progress`, body: { percent: 1, message: 'x' } },
  { name: 'checkpoint', prepare: running, path: (id) => `/jobs/${id}/checkpoint`, body: { at: 1 } },
  { name: 'event', prepare: running, path: (id) => `/jobs/${id}/event`, body: 'seen' },
  { name: 'keepalive', prepare: running, path: (id) => `/jobs/${id}/keepalive` },
  { name: 'complete', prepare: running, path: (id) => `/jobs/${id}/complete`, body: { result: 1 } },
  { name: 'fail with retries left', prepare: running, path: (id) => `/jobs/${id}/fail`, body: { error: 'x' } },
  {
    name: 'fail for good',
    prepare: () => running({ maxRetries: 0 }),
    path: (id) => `/jobs/${id}/fail`,
    body: { error: 'x' },
  },
  { name: 'kill', prepare: () => jobIn(service, 'pending', 'hot'), path: (id) => `/jobs/${id}/kill` },
];

it.each(HOT)('$name is one round trip', async ({ prepare, path, body }) => {
  const { key } = await service.key(['jobs:create', 'jobs:worker', 'jobs:kill']);
  // The key is known from here on: a pod asks for it once in five seconds, not once a request.
  await service.call('GET', '/spaces/hot/jobs', { key });
  const id = await prepare();
  const before = await evalshaCalls();

  const commands = await commandsDuring(async () => {
    const { status } = await service.call('POST', path(id), { key, body });
    expect([200, 201]).toContain(status);
  });

  expect(commands).toEqual(['evalsha']);
  expect(await evalshaCalls()).toBe(before + 1);
});

it('reads progress in one round trip and asks for a key that it does not know in one more', async () => {
  const id = await jobIn(service, 'running', 'hot');
  const { key } = await service.key(['jobs:read:progress']);
  const read = async () => {
    expect((await service.call('GET', `/jobs/${id}/progress`, { key })).status).toBe(200);
  };
  // The key and Redis' time, in one batch.
  expect(await commandsDuring(read)).toEqual(['hget', 'time', 'hmget']);
  expect(await commandsDuring(read)).toEqual(['hmget']);
});
