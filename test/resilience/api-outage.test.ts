import { expect, it } from '@jest/globals';
import { askingRedis, callEndpoint, ENDPOINTS, UNKNOWN } from '../api/endpoints.js';
import { HttpClient } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { startApp } from '../support/process.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';

const redis = withRedis();
const service = withService({}, { redis, hasDefaultTimeouts: true });

const isServing = async () => (await service.call('GET', '/spaces/outage/jobs')).status === 200;
const readyStatus = async () => (await service.http.call('GET', '/readyz')).status;
/** Call every endpoint once, concurrently. */
async function expectUnavailable(jobId: string) {
  const error = 'Storage did not respond; the outcome of this request is unknown';
  await Promise.all(
    ENDPOINTS.map(async (endpoint) => {
      const target = { ...UNKNOWN, jobId };
      const { status, headers, body } = await callEndpoint(service, endpoint, target, askingRedis(endpoint));
      expect({ endpoint: endpoint.name, status, retryAfter: headers['retry-after'], body }).toEqual({
        endpoint: endpoint.name,
        status: 503,
        retryAfter: expect.stringMatching(/^[1-5]$/),
        body: { error, code: 'UNAVAILABLE' },
      });
    }),
  );
}

const hang = async () => process.kill(redis.pid(), 'SIGSTOP');
const resume = async () => process.kill(redis.pid(), 'SIGCONT');

it.each([
  ['is down', () => redis.halt(), () => redis.resume()],
  ['hangs', hang, resume],
])('the API returns 503 on every endpoint while Redis %s, and serves again after the outage', async (_, begin, end) => {
  const id = await jobIn(service, 'running', 'outage');
  const called = await jobIn(service, 'running', 'outage'); // Its outcome is unknown.
  const { key } = await service.key(['jobs:read']);
  const read = () => service.call('GET', `/jobs/${id}`, { key });
  await begin();
  try {
    await expectUnavailable(called);
    expect(await readyStatus()).toBe(503);
    expect((await service.http.call('GET', '/livez')).status).toBe(200);
    // Not 401: the API cannot know now whether the key is valid.
    expect((await read()).status).toBe(503);
  } finally {
    await end();
  }
  await until(async () => (await isServing()) && (await readyStatus()) === 200);
  expect((await read()).body).toMatchObject({ id, status: 'running' });
  expect((await service.call('POST', `/jobs/${id}/complete`, { body: { result: 1 } })).status).toBe(200);
});

const deadlineOf = async (id: string) =>
  Number(await service.redis.zscore(`${service.store.keys.baseOfJob(id)}deadlines`, id));

it('the API refuses new jobs with STORAGE_FULL when Redis is out of memory, and lets running jobs end', async () => {
  const running = await jobIn(service, 'running', 'full');
  const failing = await jobIn(service, 'running', 'full');
  const delivered = await jobIn(service, 'delivered', 'full');
  const killed = await jobIn(service, 'pending', 'full');
  await createJob(service, 'full');
  const key = await service.key(['jobs:read']);
  await service.redis.config('SET', 'maxmemory', '1mb');
  const post = (path: string, body?: unknown) => service.call('POST', path, { body });

  // A process must be able to start now, because running processes may be replaced at any time.
  const env = { REDIS_URL: redis.url, KEY_PREFIX: service.prefix, ADMIN_API_KEY: ADMIN_KEY };
  const another = await startApp('standalone', env);
  const client = new HttpClient(another.url);
  expect((await client.call('GET', '/api/v1/spaces/full/jobs', { key: ADMIN_KEY })).status).toBe(200);
  client.close();
  expect(await another.stop()).toBe(0);

  const error = 'Storage is full; nothing was stored';
  const headers = { 'retry-after': expect.stringMatching(/^[1-5]$/) };
  const refused = { status: 503, headers, body: { error, code: 'STORAGE_FULL' } };
  expect(await post('/spaces/full/jobs', { name: 'x' })).toMatchObject(refused);
  for (const [verb, body] of [
    ['event', 1],
    ['checkpoint', {}],
    ['progress', { percent: 1, message: 'x' }],
  ] as const) {
    const before = await deadlineOf(running);
    await until(async () => {
      const [seconds, micros] = (await service.redis.time()).map(Number) as [number, number];
      return seconds * 1_000 + micros / 1_000 > before - 300_000 + 1; // Later than the previous call.
    });
    expect(await post(`/jobs/${running}/${verb}`, body)).toMatchObject(refused);
    // The refused call still opens the window of the worker again.
    expect(await deadlineOf(running)).toBeGreaterThan(before);
  }

  for (const [path, body] of [
    [`/jobs/${running}/keepalive`],
    [`/jobs/${running}/complete`, { result: 'done' }],
    [`/jobs/${failing}/fail`, { error: 'broken' }],
    [`/jobs/${delivered}/ack`],
    [`/jobs/${killed}/kill`],
    ['/spaces/full/jobs/poll'],
  ] as const)
    expect(await post(path, body)).toMatchObject({ status: 200 });
  expect(await service.call('DELETE', `/keys/${key.id}`)).toMatchObject({ status: 200 });
  expect((await service.call('GET', '/spaces/full/jobs', { key: key.key })).status).toBe(401);
  await service.redis.config('SET', 'maxmemory', '0');
  expect((await createJob(service, 'full')).id).toBeDefined();
});
