import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';

// A Redis of its own: its counters count this service's commands only.
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

/** Calls per command that clients sent; what scripts call inside is counted apart. */
async function clientCommands(): Promise<Map<string, number>> {
  const stats = await service.redis.info('commandstats');
  return new Map(
    [...stats.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(([, name, calls]) => [name as string, Number(calls)]),
  );
}

/** Commands that Redis ran between two moments, less the ones this test itself sends to look. */
async function commandsDuring(act: () => Promise<void>): Promise<Record<string, number>> {
  const before = await clientCommands();
  await act();
  const after = await clientCommands();
  const grown = [...after].map(([name, calls]) => [name, calls - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([name, calls]) => calls > 0 && name !== 'info'));
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

/** What clients can send; every other command in the statistics was called by a script. */
const SENT_BY_CLIENTS = ['evalsha', 'eval', 'multi', 'exec', 'script|load', 'get', 'hgetall', 'hvals'];

it.each(HOT)('$name is one round trip', async ({ prepare, path, body }) => {
  const { key } = await service.key(['jobs:create', 'jobs:worker', 'jobs:kill']);
  // The key is known from here on: a pod asks for it once in five seconds, not once a request.
  await service.call('GET', '/spaces/hot/jobs', { key });
  const id = await prepare();

  const commands = await commandsDuring(async () => {
    const { status } = await service.call('POST', path(id), { key, body });
    expect([200, 201]).toContain(status);
  });

  const sent = Object.fromEntries(Object.entries(commands).filter(([name]) => SENT_BY_CLIENTS.includes(name)));
  expect(sent).toEqual({ evalsha: 1 });
});

it('reads progress in one round trip and asks for a key that it does not know in one more', async () => {
  const id = await jobIn(service, 'running', 'hot');
  const { key } = await service.key(['jobs:read:progress']);
  const read = async () => {
    expect((await service.call('GET', `/jobs/${id}/progress`, { key })).status).toBe(200);
  };
  // The key and Redis' time, in one batch.
  expect(await commandsDuring(read)).toEqual({ hget: 1, time: 1, hmget: 1 });
  expect(await commandsDuring(read)).toEqual({ hmget: 1 });
});
