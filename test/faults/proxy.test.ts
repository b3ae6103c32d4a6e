import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type RedisNode, startNode } from '../support/redis/node.js';
import { until } from '../support/until.js';
import { type Ambush, type RedisProxy, startProxy } from './proxy.js';

let node: RedisNode;
let proxy: RedisProxy;
/** Past the proxy. */
let straight: Redis;
const through: Redis[] = [];

beforeEach(async () => {
  node = await startNode({ lines: (port) => [`port ${port}`] });
  proxy = await startProxy(node.port);
  straight = new Redis(node.port, '127.0.0.1', { disconnectTimeout: 50 });
});
afterEach(async () => {
  for (const redis of [straight, ...through.splice(0)]) redis.disconnect();
  await proxy.stop();
  await node.stop();
});

/** A connection through the proxy that is never made again, so that its end is seen. */
async function connect(): Promise<Redis> {
  const redis = new Redis(proxy.port, '127.0.0.1', {
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    lazyConnect: true,
    disconnectTimeout: 50, // Its timer would keep this process from ending.
  });
  redis.on('error', () => undefined);
  through.push(redis);
  await redis.connect();
  return redis;
}

/** What has come of a call so far. */
function follow(call: Promise<unknown>): { outcome: unknown } {
  const followed: { outcome: unknown } = { outcome: 'waits' };
  call.then(
    (value) => {
      followed.outcome = value;
    },
    () => {
      followed.outcome = 'failed';
    },
  );
  return followed;
}

const aMoment = () => new Promise((resolve) => setTimeout(resolve, 150));
const isIncr = ([command]: string[]) => command === 'incr';

it('passes on what comes, however it is cut into pieces', async () => {
  const redis = await connect();
  const large = 'ä\r\n$3\r\n*1\r\n'.repeat(50_000);
  await redis.set('large', large);
  expect(await redis.get('large')).toBe(large);
});

it('passes on later', async () => {
  const redis = await connect();
  proxy.set({ delayMs: 60 });
  const began = performance.now();
  await Promise.all([redis.incr('n'), redis.incr('n'), redis.incr('n')]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(120);
  proxy.set('pass');
  expect(await redis.incr('n')).toBe(4);
});

it('keeps all while it is paused, also a close, and passes it on then', async () => {
  const [stays, leaves] = [await connect(), await connect()];
  proxy.set('pause');
  const calls = [follow(stays.incr('n')), follow(leaves.incr('n'))];
  await aMoment();
  leaves.disconnect();
  await aMoment();
  expect(await straight.get('n')).toBeNull();
  proxy.set('pass');
  await until(async () => (await straight.get('n')) === '2');
  await until(() => calls[0]?.outcome !== 'waits' && calls[1]?.outcome !== 'waits');
  expect(calls.map(({ outcome }) => outcome)).toEqual([expect.any(Number), 'failed']);
  expect(await stays.incr('n')).toBe(3);
});

it('drops what comes, and leaves connections that have lost something as they are', async () => {
  const [loses, idle] = [await connect(), await connect()];
  proxy.set('drop');
  const call = follow(loses.incr('n'));
  await aMoment();
  expect([call.outcome, loses.status]).toEqual(['waits', 'ready']);
  proxy.set('pass');
  const again = follow(loses.incr('n'));
  expect(await idle.incr('n')).toBe(1);
  expect(await (await connect()).incr('n')).toBe(2);
  expect([call.outcome, again.outcome, loses.status]).toEqual(['waits', 'waits', 'ready']);
  proxy.cutLost();
  await until(() => call.outcome === 'failed');
  expect(await idle.incr('n')).toBe(3);
});

it('accepts new connections while it drops, and loses them', async () => {
  proxy.set('drop');
  const connected = follow(connect()); // It says hello first, and hears nothing.
  await until(() => proxy.open === 1);
  await aMoment();
  expect([connected.outcome, proxy.open]).toEqual(['waits', 1]);
});

it('resets what is there and what comes', async () => {
  const redis = await connect();
  proxy.set('reset');
  await until(() => redis.status === 'end');
  await expect(
    (await connect().catch(() => ({ incr: () => Promise.reject(new Error('refused')) }))).incr('n'),
  ).rejects.toThrow();
  proxy.set('pass');
  expect(await (await connect()).incr('n')).toBe(1);
});

it.each<[does: Ambush['does'], end: 'cut' | 'silence', happens: string | null]>([
  ['swallow reply', 'cut', '1'],
  ['swallow reply', 'silence', '1'],
  ['lose request', 'cut', null],
  ['lose request', 'silence', null],
])('lies in wait for a command: %s, then %s', async (does, end, happens) => {
  const [redis, other] = [await connect(), await connect()];
  const ambush = proxy.onNext(isIncr, { does, end } as Ambush);
  expect(ambush.at).toBeNull();
  const before = redis.set('before', 'kept');
  const call = follow(redis.incr('n'));
  before.catch(() => undefined);
  await ambush.happened;
  expect(ambush.at).not.toBeNull();
  await until(async () => (await straight.get('n')) === happens && (await straight.get('before')) === 'kept');
  if (end === 'cut') await until(() => call.outcome === 'failed');
  else await aMoment();
  expect([call.outcome, redis.status]).toEqual(end === 'cut' ? ['failed', 'end'] : ['waits', 'ready']);
  expect(await other.incr('n')).toBe(happens === null ? 1 : 2);
});

it('only tells of a command, and of none once it is disarmed', async () => {
  const redis = await connect();
  const disarmed = proxy.onNext(isIncr, { does: 'notice' });
  disarmed.disarm();
  const noticed = proxy.onNext(isIncr, { does: 'notice' });
  expect(await redis.incr('n')).toBe(1);
  await noticed.happened;
  expect(disarmed.at).toBeNull();
});

it('ends the connections of its clients when Redis ends', async () => {
  const redis = await connect();
  await node.kill();
  await until(() => redis.status === 'end');
});
