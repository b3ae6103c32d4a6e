import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createJobRequest, type ErrorCode, YardmasterError } from '@yardmaster/protocol';
import { createJobs, createStore, packJob } from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';

// Lists of which only the first jobs are stored.

const redis = withRedis();
const service = withService({}, { redis, app: 'api' });

let spaces = 0;
let space = '';
beforeEach(() => {
  space = `partly-${++spaces}`;
});
const create = (body: unknown, key?: string) =>
  service.call('POST', `/spaces/${space}/jobs`, { body, headers: key === undefined ? {} : { 'idempotency-key': key } });
const listOf = (count: number, fields = {}) =>
  Array.from({ length: count }, (_, n) => ({ name: 'work', payload: { n }, ...fields }));
const total = async () => (await service.call('GET', `/spaces/${space}/stats`)).body.jobs.total;
const fill = () => service.redis.config('SET', 'maxmemory', '1');
const empty = () => service.redis.config('SET', 'maxmemory', '0');

it('stores nothing of a list when Redis is full', async () => {
  await fill();
  for (const fields of [{}, { priority: 1 }]) {
    const { status, body, headers } = await create(listOf(150, fields));
    expect([status, body]).toEqual([503, { error: 'Storage is full; nothing was stored', code: 'STORAGE_FULL' }]);
    expect(headers['retry-after']).toMatch(/^[1-5]$/);
  }
  await empty();
  expect(await service.redis.keys(`*:${space}/*`)).toEqual([]);
});

it.each([
  ['without options', {}],
  ['with options', { priority: 1 }],
])(
  'reports how many jobs of a list %s are stored when Redis fills up halfway, and completes it later',
  async (_, fields) => {
    const list = listOf(250, fields);
    await create(list.slice(0, 130), 'key');
    await fill();
    const { status, body, headers } = await create(list, 'key');
    await empty();
    expect([status, body]).toEqual([
      503,
      {
        error: 'Storage is full; the first 130 jobs are stored; retry the request with the same Idempotency-Key',
        code: 'STORAGE_FULL',
        stored: 130,
      },
    ]);
    expect(headers['retry-after']).toMatch(/^[1-5]$/);
    expect(await total()).toBe(130);
    expect((await create(list, 'key')).body).toHaveLength(250);
    expect(await total()).toBe(250);
  },
);

it.each([
  ['without options', {}],
  ['with options', { priority: 1 }],
])('lists the jobs %s that a script stored before it stopped at an invalid record', async (_, fields) => {
  const ids = (await create(listOf(5, fields), 'key')).body.map(({ id }: { id: string }) => id);
  const keysOf = async (part: string) => service.redis.keys(`*${part}*`);
  const stored = (await Promise.all([space, ...ids].map(keysOf))).flat();
  await service.redis.del(...stored);
  const record = stored.find((key) => key.endsWith(`job:${ids[3]}`)) as string;
  await service.redis.set(record, 'not a hash');
  expect((await create(listOf(5, fields), 'key')).body.code).toBe('INTERNAL');
  expect(await total()).toBe(3);
  await service.redis.del(record);
  expect((await create(listOf(5, fields), 'key')).body.map(({ id }: { id: string }) => id)).toEqual(ids);
  expect(await total()).toBe(5);
  expect((await service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 50 } })).body.jobs).toHaveLength(5);
});

it('reports which jobs to resend when Redis fills up halfway through a list without an idempotency key', async () => {
  const unique = { key: 'k' };
  await create({ name: 'work', unique });
  await fill();
  const { body } = await create([...Array(100).fill({ name: 'work', unique }), ...listOf(1)]);
  await empty();
  expect(body).toEqual({
    error: 'Storage is full; the first 100 jobs are stored; retry only the others, or use an Idempotency-Key',
    code: 'STORAGE_FULL',
    stored: 100,
  });
});

let bulk: Redis;
beforeAll(() => {
  bulk = connectTo(redis.url);
});
afterAll(() => bulk.disconnect());

/** Create jobs with a store whose connections record how many jobs each script creates. */
async function createWith(jobs: object[], inTurn = <T>(run: () => Promise<T>) => run()) {
  const calls: [on: string, jobs: number][] = [];
  const recording = (on: string, connection: Redis) =>
    new Proxy(connection, {
      get(target, property) {
        const value = Reflect.get(target, property, target);
        if (property !== 'evalsha') return typeof value === 'function' ? value.bind(target) : value;
        return (...args: unknown[]) => {
          calls.push([on, args.filter((arg) => arg === 'payload').length]);
          return (value as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
  const store = createStore(
    recording('usual', service.redis),
    { keyPrefix: service.prefix },
    { bulk: recording('bulk', bulk) },
  );
  const packed = jobs.map((job) => packJob(space, createJobRequest.parse(job), null));
  const outcome = await createJobs(store, space, packed, { idempotencyKey: null, inTurn }).catch((error) => error);
  return { calls, outcome };
}

it('a script creates at most 100 jobs or about 256 KB, and scripts above 64 KB use the bulk connection', async () => {
  const large = (kilobytes: number) => ({ name: 'work', payload: { a: 'a'.repeat(kilobytes * 1_024) } });
  expect((await createWith(listOf(201))).calls).toEqual([
    ['usual', 100],
    ['usual', 100],
    ['usual', 1],
  ]);
  const sizes = [63, 65, 100, 100, 1, 255, 255];
  expect((await createWith(sizes.map(large))).calls).toEqual([
    ['bulk', 3],
    ['bulk', 2],
    ['bulk', 1],
    ['bulk', 1],
  ]);
  expect((await createWith([large(60)])).calls).toEqual([['usual', 1]]);
});

it.each<[string, ErrorCode, string]>([
  ['its turn does not come', 'OVERLOADED', 'Server is busy; the first 200 jobs are stored'],
  [
    'Redis does not reply',
    'UNAVAILABLE',
    'Storage did not respond; the first 200 jobs are stored, and the outcome of the others is unknown',
  ],
])('fails a list with UNAVAILABLE and the number of stored jobs when %s halfway', async (_, code, sentence) => {
  let turns = 0;
  const inTurn = async <T>(run: () => Promise<T>) => {
    if (++turns === 3) throw new YardmasterError(code);
    return run();
  };
  const { outcome } = await createWith(listOf(250), inTurn);
  expect(outcome).toMatchObject({ code: 'UNAVAILABLE', extras: { stored: 200 } });
  expect(outcome.message).toBe(`${sentence}; retry only the others, or use an Idempotency-Key`);
  expect(await total()).toBe(200);
});

it('fails a list with OVERLOADED only if it stored nothing', async () => {
  const refuse = () => Promise.reject(new YardmasterError('OVERLOADED'));
  const { calls, outcome } = await createWith(listOf(250), refuse);
  expect([calls, outcome.code, outcome.extras]).toEqual([[], 'OVERLOADED', {}]);
});
