import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { HttpClient } from '../support/http.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { until } from '../support/until.js';

const ADMIN_API_KEY = 'SECRET-admin-key';

let redis: OwnRedis;
let raw: Redis;
let api: RunningProcess;
let client: HttpClient;
beforeAll(async () => {
  redis = await startRedis();
  raw = new Redis(redis.url.replace('unix://', ''), { disconnectTimeout: 50 });
  raw.on('error', () => undefined);
  api = runApp('api', { PORT: '0', REDIS_URL: redis.url, ADMIN_API_KEY, LOG_LEVEL: 'trace' });
  await until(() => /"api listening"/.test(api.output()));
  client = new HttpClient(/"url":"([^"]+)"/.exec(api.output())?.[1] as string);
});
afterAll(async () => {
  client.close();
  raw.disconnect();
  await api.stop();
  await redis.stop();
});

const call = (method: string, path: string, body?: unknown, key = ADMIN_API_KEY, headers = {}) =>
  client.call(method, `/api/v1${path}`, { key, body, headers });

const lines = () =>
  api
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** A job whose record somebody damaged by hand: the one way to a bug of ours that a test can rely on. */
async function damagedJob(): Promise<string> {
  const { body } = await call('POST', '/spaces/log/jobs', { name: 'work', payload: { text: 'SECRET-payload' } });
  await raw.hset(`ym:{${body.id.slice(0, 2)}}:job:${body.id}`, 'payload', '{"text":"SECRET-payload"');
  return body.id;
}

it('answers a bug with 500 and the request id, and logs it once with its stack under the same id', async () => {
  const id = await damagedJob();
  const answer = await call('GET', `/jobs/${id}`, undefined, ADMIN_API_KEY, { 'x-request-id': 'find-me' });
  expect(answer).toMatchObject({ status: 500, body: { error: 'Internal error (request find-me)', code: 'INTERNAL' } });
  await until(() => lines().some((line) => line.requestId === 'find-me' && line.level === 'error'));
  const logged = lines().filter((line) => line.requestId === 'find-me' && line.level === 'error');
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatchObject({ app: 'api', method: 'GET', path: `/api/v1/jobs/${id}`, msg: 'request failed' });
  expect(logged[0].err.stack).toContain('parseJson');
});

it('logs a request at debug with its id, path, status and duration', async () => {
  const { headers } = await call('GET', '/spaces/unused/jobs?limit=1');
  await until(() => lines().some((line) => line.requestId === headers['x-request-id']));
  expect(lines().find((line) => line.requestId === headers['x-request-id'])).toMatchObject({
    level: 'debug',
    method: 'GET',
    path: '/api/v1/spaces/unused/jobs',
    status: 200,
    ms: expect.any(Number),
    msg: 'request done',
  });
});

it('writes no key, payload, result, callback header or error of a worker, whatever goes wrong', async () => {
  const secret = (name: string) => ({ [name]: `SECRET-${name}` });
  const { body: key } = await call('POST', '/keys', { name: 'k', scopes: ['jobs:worker', 'jobs:create'] });
  const job = {
    name: 'work',
    payload: secret('payload'),
    callbackUrl: 'https://example.com/SECRET-url',
    callbackHeaders: { authorization: 'SECRET-header' },
  };
  const { body } = await call('POST', '/spaces/log/jobs', job, key.key);
  await call('POST', '/spaces/log/jobs', { ...job, name: 5, payload: 'SECRET-wrong' }, key.key);
  await client.call('POST', '/api/v1/spaces/log/jobs', { key: key.key, raw: '{"name":"SECRET-malformed' });
  await call('GET', '/spaces/log/jobs', undefined, `${key.key}SECRET`);
  await call('POST', `/jobs/${body.id}/claim`, undefined, key.key);
  await call('POST', `/jobs/${body.id}/ack`, undefined, key.key);
  await call('POST', `/jobs/${body.id}/checkpoint`, secret('checkpoint'), key.key);
  await call('GET', `/jobs/${await damagedJob()}`);
  // A reply of the wrong type makes ioredis throw an error that carries the whole command.
  await raw.set(`ym:{${body.id.slice(0, 2)}}:job:${body.id}:events:moved`, 'x');
  await raw.rename(
    `ym:{${body.id.slice(0, 2)}}:job:${body.id}:events:moved`,
    `ym:{${body.id.slice(0, 2)}}:job:${body.id}:events`,
  );
  expect((await call('POST', `/jobs/${body.id}/complete`, { result: secret('result') }, key.key)).status).toBe(500);
  await redis.halt();
  expect((await call('POST', `/jobs/${body.id}/fail`, { error: 'SECRET-error' }, key.key)).status).toBe(503);
  await redis.resume();
  await until(async () => (await call('DELETE', `/keys/${key.id}`)).status === 200);

  await until(() => lines().filter(({ msg }) => msg === 'request failed').length >= 2);
  expect(api.output()).not.toContain('SECRET');
  expect(api.output()).not.toContain(key.key.split('_')[2]);
});
