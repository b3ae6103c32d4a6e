import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type RedisNode, startNode } from '../../test/support/redis/node.js';
import { type RedisProxy, startProxy } from '../../test/support/redis/proxy.js';
import type { Interception } from '../../test/support/redis/proxy-connection.js';
import { until } from '../../test/support/until.js';

let node: RedisNode;
let proxy: RedisProxy;
let direct: Redis; // Without the proxy.
const through: Redis[] = [];

beforeEach(async () => {
  node = await startNode({ lines: (port) => [`port ${port}`] });
  proxy = await startProxy(node.port);
  direct = new Redis(node.port, '127.0.0.1', { disconnectTimeout: 50 });
});
afterEach(async () => {
  for (const redis of [direct, ...through.splice(0)]) redis.disconnect();
  await proxy.stop();
  await node.stop();
});

/** Connect through the proxy without reconnecting, so that tests see the end of the connection. */
async function connect(): Promise<Redis> {
  const redis = new Redis(proxy.port, '127.0.0.1', {
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    lazyConnect: true,
    disconnectTimeout: 50, // Its timer would keep this process running.
  });
  redis.on('error', () => undefined);
  through.push(redis);
  await redis.connect();
  return redis;
}

/** Follow the outcome of a call. */
function follow(call: Promise<unknown>): { outcome: unknown } {
  const followed: { outcome: unknown } = { outcome: 'waits' };
  const settle = (outcome: unknown) => void Object.assign(followed, { outcome });
  call.then(settle, () => settle('failed'));
  return followed;
}

const aMoment = () => new Promise((resolve) => setTimeout(resolve, 150));
const isIncr = ([command]: string[]) => command === 'incr';

it('the proxy delays the bytes that it forwards', async () => {
  const redis = await connect();
  proxy.set({ delayMs: 60 });
  const began = performance.now();
  await Promise.all([redis.incr('n'), redis.incr('n'), redis.incr('n')]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(120);
  proxy.set('pass');
  expect(await redis.incr('n')).toBe(4);
});

it('the proxy drops bytes, even of new connections, and keeps connections that lost bytes silent', async () => {
  const [loses, idle] = [await connect(), await connect()];
  proxy.set('drop');
  const call = follow(loses.incr('n'));
  const connected = follow(connect()); // The connection sends HELLO first.
  await until(() => proxy.lost === 2);
  await aMoment();
  expect([call.outcome, loses.status, connected.outcome]).toEqual(['waits', 'ready', 'waits']);
  proxy.set('pass');
  const again = follow(loses.incr('n'));
  expect(await idle.incr('n')).toBe(1);
  expect(await (await connect()).incr('n')).toBe(2);
  expect([call.outcome, again.outcome, loses.status]).toEqual(['waits', 'waits', 'ready']);
  proxy.resetLost();
  await until(() => call.outcome === 'failed');
  expect(await idle.incr('n')).toBe(3);
});

it.each<[action: Interception['action'], end: 'cut' | 'silence', happens: string | null]>([
  ['lose reply', 'cut', '1'],
  ['lose reply', 'silence', '1'],
  ['lose request', 'cut', null],
  ['lose request', 'silence', null],
])('the proxy intercepts a command to %s and ends its connection by %s', async (action, end, happens) => {
  const [redis, other] = [await connect(), await connect()];
  const intercepted = proxy.intercept(isIncr, { action, end } as Interception);
  expect(intercepted.at).toBeNull();
  const before = redis.set('before', 'kept');
  const call = follow(redis.incr('n'));
  before.catch(() => undefined);
  await intercepted.happened;
  expect(intercepted.at).not.toBeNull();
  await until(async () => (await direct.get('n')) === happens && (await direct.get('before')) === 'kept');
  if (end === 'cut') await until(() => call.outcome === 'failed');
  else await aMoment();
  expect([call.outcome, redis.status]).toEqual(end === 'cut' ? ['failed', 'end'] : ['waits', 'ready']);
  expect(await other.incr('n')).toBe(happens === null ? 1 : 2);
});
