import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { createKey, createStore } from '@yardmaster/store';
import { connectTo } from '../support/connect.js';
import { during } from '../support/during.js';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { withRaw } from '../support/raw-client.js';
import { ADMIN_KEY, sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

const REDIS_URL = sharedService().redisUrl;
const newPrefix = () => `t-${randomUUID().slice(0, 8)}`;

const processes: RunningProcess[] = [];
const servers: OwnRedis[] = [];
afterEach(async () => {
  for (const each of processes.splice(0)) await each.stop();
  for (const each of servers.splice(0)) await each.stop();
});

/** Start an API with exactly these variables, which may be invalid. */
function run(env: Record<string, string>) {
  const api = runApp('api', { PORT: '0', KEY_PREFIX: newPrefix(), ...env });
  processes.push(api);
  return api;
}

/** Start a Redis that ends with the test. */
async function ownRedis(settings: Record<string, string> = {}): Promise<OwnRedis> {
  const server = await startRedis(settings);
  servers.push(server);
  return server;
}

const urlIn = ({ output }: RunningProcess) => /"url":"([^"]+)"/.exec(output())?.[1];
async function urlOf(api: RunningProcess): Promise<string> {
  await until(() => urlIn(api) !== undefined);
  return urlIn(api) as string;
}

const shared = during(
  async () => ({ redis: connectTo(REDIS_URL) }),
  async ({ redis }) => redis.disconnect(),
);

it.each<[string, Record<string, string>, string[]]>([
  ['without REDIS_URL', { ADMIN_API_KEY: ADMIN_KEY }, ['REDIS_URL or REDIS_URL_FILE is required']],
  [
    'with invalid variables, and names each of them once',
    { REDIS_URL, ADMIN_API_KEY: ADMIN_KEY, SHUTDOWN_SECONDS: 'soon', EVENTS_PER_JOB: '1' },
    [
      'EVENTS_PER_JOB must be an integer between 10 and 100000',
      'SHUTDOWN_SECONDS must be a number of seconds above 0 to 3600',
    ],
  ],
])('the API refuses to start %s', async (_, env, faults) => {
  const api = run(env);
  expect(await api.ended()).toBe(1);
  expect(api.output()).toBe(['Invalid configuration:', ...faults.map((fault) => `  ${fault}`), ''].join('\n'));
});

it('the API refuses to start while no client can authenticate, and starts once a key exists', async () => {
  const env = { REDIS_URL, KEY_PREFIX: newPrefix() };
  const refused = run(env);
  expect(await refused.ended()).toBe(1);
  expect(refused.output()).toContain('ADMIN_API_KEY is required: no API key exists yet');

  const request = { name: 'x', scopes: ['jobs:read' as const], spaceId: null, expiresAt: null };
  const { key } = await createKey(createStore(shared.redis, { keyPrefix: env.KEY_PREFIX }), request);
  const api = run(env);
  const client = new HttpClient(await urlOf(api));
  expect((await client.call('GET', '/api/v1/spaces/x/jobs', { key })).status).toBe(200);
  client.close();
  expect(await api.stop()).toBe(0);
});

it('the API refuses to start on jobs in a different format', async () => {
  const env = { REDIS_URL, KEY_PREFIX: newPrefix(), ADMIN_API_KEY: ADMIN_KEY };
  await shared.redis.hset(`${env.KEY_PREFIX}:meta`, 'partitions', 64, 'format', 2);
  const api = run(env);
  expect(await api.ended()).toBe(1);
  expect(api.output()).toContain('Redis contains jobs in format 2; this version uses 1');
});

it('the API is live but not ready if it starts while Redis is down, and serves once Redis is up', async () => {
  const redis = await ownRedis();
  await redis.halt();
  const port = await freePort();
  const api = run({ REDIS_URL: redis.url, ADMIN_API_KEY: ADMIN_KEY, PORT: String(port) });
  const client = new HttpClient(`http://127.0.0.1:${port}`);
  const status = (path: string) =>
    client.call('GET', path, { key: ADMIN_KEY }).then(
      (response) => response.status,
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
});

it('the API warns about a Redis that may evict jobs or has no append-only file', async () => {
  const redis = await ownRedis({ 'maxmemory-policy': 'allkeys-lru', appendonly: 'no' });
  const api = run({ REDIS_URL: redis.url, ADMIN_API_KEY: ADMIN_KEY });
  await urlOf(api);
  expect(api.output()).toContain('Redis may evict jobs: maxmemory-policy is allkeys-lru but must be noeviction');
  expect(api.output()).toContain('Redis keeps no append-only file');
  await api.stop();
});

it('the API can be stopped while it waits for Redis', async () => {
  const api = run({ REDIS_URL: 'unix:///nowhere/redis.sock', ADMIN_API_KEY: ADMIN_KEY });
  await until(() => api.output().includes('redis connection lost'));
  expect(await api.stop()).toBe(0);
});

it('the API can be stopped after the reader of its log has exited', async () => {
  const api = run({ REDIS_URL, ADMIN_API_KEY: ADMIN_KEY });
  await urlOf(api);
  api.child.stdout?.destroy();
  api.child.stderr?.destroy();
  expect(await api.stop()).toBe(0);
});

it('the API responds to every call whose connection was accepted before the stop', async () => {
  const api = run({ REDIS_URL, ADMIN_API_KEY: ADMIN_KEY });
  const url = new URL(await urlOf(api));
  api.child.kill('SIGSTOP'); // As with a busy event loop: the system accepts the connections.
  const sockets = Array.from({ length: 40 }, () => net.connect(Number(url.port), url.hostname));
  const responses = sockets.map(
    (socket) =>
      new Promise<string>((resolve) => {
        socket.once('data', (data) => resolve(data.toString().split('\r\n', 1)[0] as string));
        socket.once('error', (error) => resolve(error.message));
        socket.once('end', () => resolve('closed without a response'));
      }),
  );
  const request = 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n';
  await Promise.all(sockets.map((socket) => new Promise((sent) => socket.write(request, sent))));
  api.child.kill('SIGTERM');
  api.child.kill('SIGCONT');

  expect(await Promise.all(responses)).toEqual(Array(40).fill('HTTP/1.1 200 OK'));
  for (const socket of sockets) socket.destroy();
  expect(await api.ended()).toBe(0);
});

it('the API disconnects a call that never ends when stopping, and exits with 0', async () => {
  const api = run({ REDIS_URL, ADMIN_API_KEY: ADMIN_KEY, SHUTDOWN_SECONDS: '3' });
  await withRaw(await urlOf(api), async ({ socket }) => {
    // Headers at intervals, so that the connection is never idle.
    socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n');
    const drip = setInterval(() => socket.write('a: b\r\n'), 100);
    await new Promise((resolve) => (socket.connecting ? socket.once('connect', resolve) : resolve(null)));
    api.child.kill('SIGTERM');
    await until(() => socket.closed);
    clearInterval(drip);
  });
  expect(await api.ended()).toBe(0);
});
