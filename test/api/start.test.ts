import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import { createKey, createStore } from '@yardmaster/store';
import { Redis } from 'ioredis';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { until } from '../support/until.js';

const REDIS_URL = process.env.TEST_REDIS_URL as string;
const ADMIN_API_KEY = 'admin-key-of-the-tests';

const processes: RunningProcess[] = [];
afterEach(async () => {
  for (const each of processes.splice(0)) await each.stop();
});

function run(env: Record<string, string>) {
  const api = runApp('api', { PORT: '0', KEY_PREFIX: `t-${randomUUID().slice(0, 8)}`, ...env });
  processes.push(api);
  return api;
}

const urlIn = ({ output }: RunningProcess) => /"url":"([^"]+)"/.exec(output())?.[1];

it('needs to be told where Redis is', async () => {
  const api = run({ ADMIN_API_KEY });
  expect(await api.ended()).toBe(1);
  expect(api.output()).toBe('Configuration is not valid:\n  REDIS_URL is required\n');
});

it('names each faulty variable once', async () => {
  const api = run({ REDIS_URL, ADMIN_API_KEY, SHUTDOWN_SECONDS: 'soon', EVENTS_PER_JOB: '1' });
  expect(await api.ended()).toBe(1);
  expect(api.output()).toBe(`Configuration is not valid:
  EVENTS_PER_JOB must be an integer between 10 and 100000
  SHUTDOWN_SECONDS must be a number of seconds above 0 to 3600
`);
});

it('refuses to start when nobody could ever authenticate, and starts once a key exists', async () => {
  const prefix = `t-${randomUUID().slice(0, 8)}`;
  const refused = run({ REDIS_URL, KEY_PREFIX: prefix });
  expect(await refused.ended()).toBe(1);
  expect(refused.output()).toContain('ADMIN_API_KEY is required, because there is no API key yet');

  const redis = new Redis(REDIS_URL.replace('unix://', ''), { disconnectTimeout: 50 });
  const request = { name: 'x', scopes: ['jobs:read' as const], spaceId: null, expiresAt: null };
  const { key } = await createKey(createStore(redis, { keyPrefix: prefix }), request);
  redis.disconnect();

  const api = run({ REDIS_URL, KEY_PREFIX: prefix });
  await until(() => urlIn(api) !== undefined);
  const client = new HttpClient(urlIn(api) as string);
  expect((await client.call('GET', '/api/v1/spaces/x/jobs', { key })).status).toBe(200);
  client.close();
  expect(await api.stop()).toBe(0);
});

it('refuses jobs that are spread over another number of partitions', async () => {
  const prefix = `t-${randomUUID().slice(0, 8)}`;
  const redis = new Redis(REDIS_URL.replace('unix://', ''), { disconnectTimeout: 50 });
  await redis.hset(`${prefix}:meta`, 'partitions', 32);
  redis.disconnect();
  const api = run({ REDIS_URL, KEY_PREFIX: prefix, ADMIN_API_KEY });
  expect(await api.ended()).toBe(1);
  expect(api.output()).toContain('Redis holds jobs spread over 32 partitions, this release uses 64');
});

it('is live but not ready while Redis is away at its start, and serves once it is there', async () => {
  const redis: OwnRedis = await startRedis();
  await redis.halt();
  const port = await freePort();
  const api = run({ REDIS_URL: redis.url, ADMIN_API_KEY, PORT: String(port) });
  const client = new HttpClient(`http://127.0.0.1:${port}`);
  const status = (path: string) =>
    client.call('GET', path, { key: ADMIN_API_KEY }).then(
      (answer) => answer.status,
      () => 0,
    );
  await until(async () => (await status('/livez')) === 200);
  expect(await status('/readyz')).toBe(503);
  expect(await status('/api/v1/spaces/x/jobs')).toBe(503);

  await redis.resume();
  await until(async () => (await status('/readyz')) === 200);
  expect(await status('/api/v1/spaces/x/jobs')).toBe(200);
  client.close();
  expect(await api.stop()).toBe(0);
  await redis.stop();
});

it('stops while it still waits for Redis', async () => {
  const api = run({ REDIS_URL: 'unix:///nowhere/redis.sock', ADMIN_API_KEY });
  await until(() => api.output().includes('redis connection lost'));
  expect(await api.stop()).toBe(0);
});

it('stops although nobody reads its log any more', async () => {
  const api = run({ REDIS_URL, ADMIN_API_KEY });
  await until(() => urlIn(api) !== undefined);
  api.child.stdout?.destroy();
  api.child.stderr?.destroy();
  expect(await api.stop()).toBe(0);
});

it('warns of a Redis that may evict jobs and of one that keeps no append-only file', async () => {
  const redis = await startRedis({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'no' });
  const api = run({ REDIS_URL: redis.url, ADMIN_API_KEY });
  await until(() => urlIn(api) !== undefined);
  expect(api.output()).toContain('Redis may evict jobs: maxmemory-policy is allkeys-lru, it must be noeviction');
  expect(api.output()).toContain('Redis keeps no append-only file');
  await api.stop();
  await redis.stop();
});
