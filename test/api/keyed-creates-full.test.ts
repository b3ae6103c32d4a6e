import { expect, it } from '@jest/globals';
import { withRedis } from '../support/own-redis.js';
import { startService, withService } from '../support/service.js';

const redis = withRedis();
const service = withService({}, { redis, app: 'api' });

const KEY = 'the key of a create';
const create = (on: typeof service, payload: object, unique?: object) =>
  on.call('POST', '/spaces/full/jobs', {
    headers: unique === undefined ? { 'idempotency-key': KEY } : {},
    body: { name: 'work', payload, unique },
  });
const fill = () => service.redis.config('SET', 'maxmemory', '1');
const empty = () => service.redis.config('SET', 'maxmemory', '0');
const keys = async () => (await service.redis.keys('*:full/*')).sort();
const FULL = { status: 503, body: { code: 'STORAGE_FULL' } };

it('stores neither a job nor its idempotency or unique key when Redis is full', async () => {
  await fill();
  expect(await create(service, {})).toMatchObject(FULL);
  expect(await create(service, {}, { key: 'k' })).toMatchObject(FULL);
  expect(await keys()).toEqual([]);
  await empty();
  const { status, headers } = await create(service, {});
  expect([status, headers['idempotent-replayed']]).toEqual([201, undefined]);
});

it('returns the existing job to a repeated create when Redis is full, and replaces nothing', async () => {
  const { body: job } = await create(service, { n: 1 }, { key: 'k', onConflict: 'replace' });
  const before = await service.redis.hgetall(service.store.keys.job(job.id));
  await fill();
  expect((await create(service, {})).headers['idempotent-replayed']).toBe('true');
  expect((await create(service, {}, { key: 'k' })).body).toEqual(job);
  expect(await create(service, { n: 2 }, { key: 'k', onConflict: 'replace' })).toMatchObject(FULL);
  await empty();
  expect(await service.redis.hgetall(service.store.keys.job(job.id))).toEqual(before);
  expect((await service.call('GET', `/jobs/${job.id}`)).body.events).toHaveLength(1);
});

it('starts on a full Redis without an idempotency secret, and creates it for the first key once there is room', async () => {
  const { meta } = service.store.keys;
  await service.redis.hdel(meta, 'idempotencySecret');
  await fill();
  const late = await startService({ KEY_PREFIX: service.prefix }, { redis, app: 'api' });
  try {
    expect(await create(late, {})).toMatchObject(FULL);
    expect(await service.redis.hexists(meta, 'idempotencySecret')).toBe(0);
    await empty();
    expect((await create(late, {})).status).toBe(201);
    const secret = (await service.redis.hget(meta, 'idempotencySecret')) as string;
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(late.process?.output()).not.toContain(secret);
  } finally {
    await late.stop();
  }
});
