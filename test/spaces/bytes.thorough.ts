import { beforeEach, expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const redis = withRedis();
const service = withService({}, { redis });

let space: string;
let spaces = 0;
beforeEach(() => {
  space = `bytes-${++spaces}`;
});

const FULL = {
  status: 429,
  body: { error: 'Space holds as many bytes as its settings allow', code: 'SPACE_FULL' },
};
const keys = () => service.store.keys;
const bound = (maxBytes: number | null) => service.call('PATCH', `/spaces/${space}/settings`, { body: { maxBytes } });
const sums = () => service.redis.hgetall(keys().bytes(space));
const sum = async () => Number((await sums()).sum);
const bytesOf = async (id: string) => Number((await service.redis.hget(keys().job(id), 'bytes'))?.split(' ')[1]);
const create = (body: object) => service.call('POST', `/spaces/${space}/jobs`, { body });

/** Let a scheduler recount the bytes of the space now, and wait until it has. */
async function recount(): Promise<void> {
  const { round } = await sums();
  await service.redis.zadd(keys().recounts(partitionOf(space)), 1, space);
  await until(async () => {
    const now = await sums();
    return now.round !== round && now.cursor === undefined;
  });
}

it('a space at maxBytes refuses creates that would replace a job, copies and logs, but accepts reports and outcomes', async () => {
  await bound(1e9);
  const [running, failing] = [await jobIn(service, 'running', space), await jobIn(service, 'running', space)];
  const unique = { key: 'one', onConflict: 'replace' };
  await create({ name: 'work', unique });
  const list = { body: [{ name: 'a' }, { name: 'b' }] };
  await bound((await sum()) + 1);
  expect(await service.call('POST', `/spaces/${space}/jobs`, list)).toMatchObject({
    status: 429,
    body: {
      error: `${FULL.body.error}; the first job is stored; retry only the others, or use an Idempotency-Key`,
      stored: 1,
    },
  });
  expect(await create({ name: 'work' })).toMatchObject(FULL);
  expect(await create({ name: 'work', delaySeconds: 60 })).toMatchObject(FULL);
  expect(await create({ name: 'work', unique })).toMatchObject(FULL);
  expect((await create({ name: 'work', unique: { ...unique, onConflict: 'return' } })).status).toBe(200);
  expect(await service.call('POST', `/jobs/${running}/copy`)).toMatchObject(FULL);
  expect(await service.call('POST', `/jobs/${running}/logs`, { body: ['line'] })).toMatchObject(FULL);
  for (const verb of ['event', 'checkpoint']) await step(service, running, verb, 'x'.repeat(5_000));
  await step(service, running, 'complete', { result: 'x'.repeat(5_000) });
  await step(service, failing, 'fail', { error: 'no' });
  await bound(null);
  expect((await create({ name: 'work' })).status).toBe(201);
});

it('the bytes of a job include its payload, logs, events and result, and are freed with the job', async () => {
  await bound(1e9);
  const id = await jobIn(service, 'running', space, { payload: { text: 'x'.repeat(20_000) } });
  /** How far the bytes are from what Redis uses now. */
  const isOffBy = async () => {
    const parts = ['', ':events', ':logs'].map((part) => `${keys().job(id)}${part}`);
    const used = await Promise.all(parts.map((key) => service.redis.memory('USAGE', key, 'SAMPLES', 0)));
    return (await bytesOf(id)) - used.reduce((all: number, bytes) => all + Number(bytes), 0);
  };
  expect(Math.abs(await isOffBy())).toBeLessThan(2_000);
  await step(service, id, 'logs', Array(100).fill('y'.repeat(1_000)));
  expect(Math.abs(await isOffBy())).toBeLessThan(700);
  for (let n = 0; n < 16; n++) await step(service, id, 'event', 'z'.repeat(500));
  expect(Math.abs(await isOffBy())).toBeLessThan(2_500);
  await step(service, id, 'checkpoint', 'c'.repeat(3_000));
  expect(Math.abs(await isOffBy())).toBeLessThan(700);
  await step(service, id, 'complete', { result: 'r'.repeat(9_000) });
  expect(Math.abs(await isOffBy())).toBeLessThan(700);
  expect(await sum()).toBe(await bytesOf(id));
  await service.call('DELETE', `/jobs/${id}`);
  expect(await sum()).toBe(0);
});

it('existing jobs are counted once maxBytes is set, and no longer once it is unset', async () => {
  const before = Number(/used_memory:(\d+)/.exec(await service.redis.info('memory'))?.[1]);
  const jobs = Array.from({ length: 1_000 }, (_, n) => ({ name: 'work', payload: { n, text: 'x'.repeat(2_000) } }));
  await service.call('POST', `/spaces/${space}/jobs`, { body: jobs });
  const used = Number(/used_memory:(\d+)/.exec(await service.redis.info('memory'))?.[1]) - before;
  await bound(1e9);
  await until(async () => {
    const { cursor, sum } = await sums();
    return cursor === undefined && Number(sum) > 0;
  });
  expect((await sum()) / used).toBeGreaterThan(0.8);
  expect((await sum()) / used).toBeLessThan(1.2);
  await bound(null);
  expect(await sums()).toEqual({});
  await step(service, await jobIn(service, 'running', space), 'complete', { result: 'x'.repeat(5_000) });
  expect(await sums()).toEqual({});
});

it('a recount corrects a wrong sum while jobs are created and deleted', async () => {
  await bound(1e9);
  await service.call('POST', `/spaces/${space}/jobs`, { body: Array(300).fill({ name: 'work' }) });
  const { round } = await sums();
  await service.redis.hset(keys().bytes(space), 'sum', 2e9);
  expect(await create({ name: 'work' })).toMatchObject(FULL);
  await bound(1e10);
  await service.redis.zadd(keys().recounts(partitionOf(space)), 1, space);
  for (let isOver = false; !isOver; ) {
    await service.call('DELETE', `/jobs/${await jobIn(service, 'killed', space)}`);
    await step(service, await jobIn(service, 'running', space), 'event', 'x'.repeat(2_000));
    const now = await sums();
    isOver = now.round !== round && now.cursor === undefined;
  }
  const ids = await service.redis.zrange(keys().jobs(space), 0, -1);
  const all = await Promise.all(ids.map(bytesOf));
  expect(await sum()).toBe(all.reduce((total, bytes) => total + bytes, 0));
});

it('a job whose request is replaced is counted with its new payload', async () => {
  await bound(1e9);
  const unique = { key: 'k', onConflict: 'replace' };
  const { id } = await createJob(service, space, { unique });
  const { status } = await create({ name: 'work', unique, payload: { text: 'x'.repeat(50_000) } });
  expect(status).toBe(200);
  expect(await bytesOf(id)).toBeGreaterThan(50_000);
  await recount();
  expect(await sum()).toBe(await bytesOf(id));
});
