import { expect, it } from '@jest/globals';
import type { CallOptions } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';

const redis = withRedis();
// The stored data are not checked at the end, because tests damage them.
const service = withService({ LOG_LEVEL: 'trace' }, { redis, app: 'api', check: false });

const output = () => service.process?.output() ?? '';
const lines = (): Record<string, unknown>[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** Create a job with a damaged record, because only this makes the service fail with INTERNAL in every release. */
async function damagedJob(): Promise<string> {
  const { id } = await createJob(service, 'log', { payload: { text: 'SECRET-payload' } });
  await service.redis.hset(service.store.keys.job(id), 'payload', '{"text":"SECRET-payload"');
  return id;
}

it('responds to a bug with 500 and the request id, and logs it once with its stack under that id', async () => {
  const id = await damagedJob();
  const response = await service.call('GET', `/jobs/${id}`, { headers: { 'x-request-id': 'find-me' } });
  expect(response).toMatchObject({
    status: 500,
    body: { error: 'Internal error (request find-me)', code: 'INTERNAL' },
  });
  const logged = () => lines().filter(({ requestId, level }) => requestId === 'find-me' && level === 'error');
  await until(() => logged().length > 0);
  const err = { stack: expect.stringContaining('parseJson') };
  expect(logged()).toMatchObject([
    { app: 'api', method: 'GET', path: `/api/v1/jobs/${id}`, msg: 'request failed', err },
  ]);
});

it('never logs a key, payload, result, callback header or error of a worker', async () => {
  const secret = (name: string) => ({ [name]: `SECRET-${name}` });
  const { id: keyId, key } = await service.key(['jobs:worker', 'jobs:create']);
  const call = async (path: string, body?: unknown, options: CallOptions = {}) =>
    (await service.call('POST', path, { key, body, ...options })).status;
  const job = {
    name: 'work',
    payload: secret('payload'),
    callbackUrl: 'https://example.com/SECRET-url',
    callbackHeaders: { authorization: 'SECRET-header' },
  };
  const { id } = await createJob(service, 'log', job);
  expect(await call('/spaces/log/jobs', { ...job, name: 5, payload: 'SECRET-wrong' })).toBe(400);
  expect(await call('/spaces/log/jobs', undefined, { raw: '{"name":"SECRET-malformed' })).toBe(400);
  expect(await call('/spaces/log/jobs', job, { key: `${key}SECRET` })).toBe(401);
  const bearer = { key: undefined, headers: { authorization: `Bearer ${key}SECRET` } };
  expect(await call('/spaces/log/jobs', job, bearer)).toBe(401);
  expect(await call(`/spaces/log/jobs?SECRET=${key}`, job)).toBe(400);
  expect(await call('/spaces/log/jobs', { ...job, SECRET: key }, { headers: { prefer: 'handling=strict' } })).toBe(400);
  for (const [verb, body] of [['claim'], ['ack'], ['checkpoint', secret('checkpoint')]] as const)
    expect(await call(`/jobs/${id}/${verb}`, body)).toBe(200);
  expect((await service.call('GET', `/jobs/${await damagedJob()}`)).status).toBe(500);
  // A reply of the wrong type makes ioredis throw an error that contains the whole command.
  const events = `${service.store.keys.job(id)}:events`;
  await service.redis.del(events);
  await service.redis.set(events, 'x');
  expect(await call(`/jobs/${id}/complete`, { result: secret('result') })).toBe(500);
  await redis.halt();
  expect(await call(`/jobs/${id}/fail`, { error: 'SECRET-error' })).toBe(503);
  await redis.resume();
  await until(async () => (await service.call('DELETE', `/keys/${keyId}`)).status === 200);

  await until(() => lines().filter(({ msg }) => msg === 'request failed').length >= 2);
  expect(output()).not.toContain('SECRET');
  expect(output()).not.toContain(ADMIN_KEY);
  expect(output()).not.toContain(key.split('_')[2]);
});
