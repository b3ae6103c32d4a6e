import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { createJob, jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
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

/** A body that passes validation, by the last part of the path. */
const BODIES: Record<string, unknown> = {
  jobs: { name: 'work' },
  progress: { percent: 1, message: 'x' },
  fail: { error: 'x' },
  logs: ['a line'],
  keys: { name: 'k', scopes: ['jobs:read'] },
};

/** Call every endpoint once, at the same time. */
async function callAll(jobId: string) {
  return Promise.all(
    ROUTES.map(async ({ method, path }) => {
      const real = path.replace(':spaceId', 'outage').replace(':jobId', jobId).replace(':keyId', 'aaaa');
      const body = method === 'POST' ? BODIES[real.split('/').at(-1) as string] : undefined;
      const answer = await service.call(method, real.replace('/api/v1', ''), { body });
      return { endpoint: `${method} ${path}`, answer };
    }),
  );
}

const isServing = async () => (await service.call('GET', '/spaces/outage/jobs')).status === 200;

const readyStatus = async () => (await service.http.call('GET', '/readyz')).status;

async function expectUnavailable(jobId: string) {
  for (const { endpoint, answer } of await callAll(jobId)) {
    expect({ endpoint, status: answer.status, retryAfter: answer.headers['retry-after'], body: answer.body }).toEqual({
      endpoint,
      status: 503,
      retryAfter: '1',
      body: { error: 'Storage did not answer; the outcome of this request is unknown', code: 'UNAVAILABLE' },
    });
  }
}

it('answers 503 on every endpoint while Redis is down, and serves again when it is back', async () => {
  const id = await jobIn(service, 'running', 'outage');
  const { key } = await service.key(['jobs:read']);
  await redis.halt();

  await expectUnavailable(id);
  expect(await readyStatus()).toBe(503);
  expect((await service.http.call('GET', '/livez')).status).toBe(200);
  // Not a 401: whether the key is good cannot be told just now.
  expect((await service.call('GET', `/jobs/${id}`, { key })).status).toBe(503);

  await redis.resume();
  await until(isServing);
  expect(await readyStatus()).toBe(200);
  expect((await service.call('GET', `/jobs/${id}`, { key })).body).toMatchObject({ id, status: 'running' });
  expect((await service.call('POST', `/jobs/${id}/complete`, { body: { result: 1 } })).status).toBe(200);
});

it('answers 503 on every endpoint while Redis hangs, and serves again when it goes on', async () => {
  const id = await jobIn(service, 'running', 'outage');
  process.kill(redis.pid(), 'SIGSTOP');
  try {
    await expectUnavailable(id);
  } finally {
    process.kill(redis.pid(), 'SIGCONT');
  }
  await until(isServing);
});

it('applies a call at most once when its answer was lost', async () => {
  const { id } = await createJob(service, 'lost');
  process.kill(redis.pid(), 'SIGSTOP');
  const claim = service.call('POST', `/jobs/${id}/claim`);
  // The request sits in the socket of the stopped Redis; the caller hears that nobody knows.
  expect((await claim).status).toBe(503);
  process.kill(redis.pid(), 'SIGCONT');
  await until(isServing);
  const job = (await service.call('GET', `/jobs/${id}`)).body;
  expect(job.events.filter(({ type }: { type: string }) => type === 'delivered').length).toBeLessThanOrEqual(1);
});

it('applies every call exactly once while Redis forgets its scripts', async () => {
  const flush = () => service.redis.script('FLUSH');
  const id = (await createJob(service, 'flush', { maxRetries: 1 })).id;
  const steps: [verb: string, body?: unknown][] = [
    ['claim'],
    ['ack'],
    ['progress', { percent: 1, message: 'x' }],
    ['fail', { error: 'x' }],
    ['claim'],
    ['ack'],
    ['complete', { result: 1 }],
  ];
  for (const [verb, body] of steps) {
    await flush();
    expect(await service.call('POST', `/jobs/${id}/${verb}`, { body })).toMatchObject({ status: 200 });
  }
  await flush();
  const { events, attemptNumber } = (await service.call('GET', `/jobs/${id}`)).body;
  expect(attemptNumber).toBe(2);
  expect(events.map(({ type }: { type: string }) => type)).toEqual([
    'created',
    'delivered',
    'acked',
    'progress',
    'retried',
    'delivered',
    'acked',
    'completed',
  ]);
});

const deadlineOf = async (id: string) =>
  Number(await service.redis.zscore(`${service.store.keys.baseOfJob(id)}deadlines`, id));

const redisNow = async () => {
  const [seconds, micros] = await service.redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
};

describe('when Redis has no memory left', () => {
  it('refuses new jobs with STORAGE_FULL and lets running ones go on and end', async () => {
    const [running, failing, delivered, killed] = [
      await jobIn(service, 'running', 'full'),
      await jobIn(service, 'running', 'full'),
      await jobIn(service, 'delivered', 'full'),
      await jobIn(service, 'pending', 'full'),
    ];
    await createJob(service, 'full');
    const key = await service.key(['jobs:read']);
    await service.redis.config('SET', 'maxmemory', '1mb');

    // A process that starts now must find its way in: those that run may be replaced at any time.
    const another = await startService({ KEY_PREFIX: service.prefix }, { redisUrl: redis.url, check: false });
    expect((await another.call('GET', '/spaces/full/jobs')).status).toBe(200);
    await another.stop();

    const refused = { status: 503, body: { error: 'Storage is full; nothing was stored', code: 'STORAGE_FULL' } };
    const create = await service.call('POST', '/spaces/full/jobs', { body: { name: 'x' } });
    expect(create).toMatchObject(refused);
    expect(create.headers['retry-after']).toBe('1');
    for (const [verb, body] of [
      ['event', 1],
      ['checkpoint', {}],
      ['progress', { percent: 1, message: 'x' }],
    ] as const) {
      const before = await deadlineOf(running);
      await until(async () => (await redisNow()) > before - 300_000);
      expect(await service.call('POST', `/jobs/${running}/${verb}`, { body })).toMatchObject(refused);
      // The worker is alive all the same, and keeps its window.
      expect(await deadlineOf(running)).toBeGreaterThan(before);
    }

    const works = async (path: string, body?: unknown) =>
      expect(await service.call('POST', path, { body })).toMatchObject({ status: 200 });
    await works(`/jobs/${running}/keepalive`);
    await works(`/jobs/${running}/complete`, { result: 'done' });
    await works(`/jobs/${failing}/fail`, { error: 'broken' });
    await works(`/jobs/${delivered}/ack`);
    await works(`/jobs/${killed}/kill`);
    await works('/spaces/full/jobs/poll');
    expect(await service.call('DELETE', `/keys/${key.id}`)).toMatchObject({ status: 200 });
    expect((await service.call('GET', '/spaces/full/jobs', { key: key.key })).status).toBe(401);
    await service.redis.config('SET', 'maxmemory', '0');
    expect((await createJob(service, 'full')).id).toBeDefined();
  });
});
