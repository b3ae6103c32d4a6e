import { expect, it } from '@jest/globals';
import { ACTIONS, itemOf, poll, read, settle, tokenFor } from '../settle/settle.js';
import { createJob, jobIn } from '../support/jobs.js';
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

it('returns the existing job for a repeated create when Redis is full, and replaces nothing', async () => {
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

/** Act while Redis has no memory left. */
async function whenFull<T>(act: () => Promise<T>): Promise<T> {
  await service.redis.config('SET', 'maxmemory', '1');
  try {
    return await act();
  } finally {
    await service.redis.config('SET', 'maxmemory', '0');
  }
}

const STATUS_AFTER = { ack: 'running', complete: 'completed', fail: 'scheduled', release: 'scheduled' };
const isStored = (action: string) => ['progress', 'checkpoint', 'event'].includes(action);

const newJobs = () =>
  Promise.all(ACTIONS.map((action) => jobIn(service, action === 'ack' ? 'delivered' : 'running', 'full-settle')));

it.each(['in one call', 'one by one'])(
  'settle refuses only reports that need memory when Redis is full, %s',
  async (how) => {
    const ids = await newJobs();
    const tokens = await Promise.all(ids.map((id) => tokenFor(service, id, '0.0')));
    const items = ACTIONS.map((action, i) => itemOf(ids[i] as string, action, tokens[i]));
    const portions = how === 'in one call' ? [items] : items.map((item) => [item]);
    const results = await whenFull(async () => {
      const all = [];
      for (const portion of portions) all.push(...(await settle(service, 'full-settle', portion)).body.results);
      return all;
    });
    const FULL = { success: false, code: 'STORAGE_FULL', error: expect.any(String) };
    expect(results).toEqual(
      ACTIONS.map((action, i) => ({ jobId: ids[i], ...(isStored(action) ? FULL : { success: true }) })),
    );
    for (const [i, action] of ACTIONS.entries())
      expect((await read(service, ids[i] as string)).status).toBe(
        action in STATUS_AFTER ? STATUS_AFTER[action as keyof typeof STATUS_AFTER] : 'running',
      );
  },
);

it.each([1, 8])('poll settles and claims %s jobs with autoAck when Redis is full', async (count) => {
  const space = `full-${count}`;
  const fields = { maxRunSeconds: 50, startWithinSeconds: 90, unique: { key: 'k', until: 'started' } };
  const done = await jobIn(service, 'running', space);
  const { id } = await createJob(service, space, fields);
  for (let n = 1; n < count; n++) await createJob(service, space);
  const body = { count, autoAck: true, workerId: 'w', ackWithinSeconds: 9, settle: [itemOf(done, 'complete')] };
  const response = await whenFull(() => poll(service, space, body));
  expect(response).toMatchObject({ status: 200, body: { settled: [{ jobId: done, success: true }] } });
  expect(response.body.jobs).toHaveLength(count);
  expect(await read(service, id)).toMatchObject({ status: 'running', attemptNumber: 1, workerId: 'w' });
});

it('changes settings of a space, pauses and resumes it while Redis is full', async () => {
  const { id } = await createJob(service, 'full-space');
  const call = async (verb: string, body: object, method = 'POST') =>
    (await service.call(method, `/spaces/full-space/${verb}`, { body })).status;
  const poll = async () => (await service.call('POST', '/spaces/full-space/jobs/poll')).body.jobs;
  await service.redis.config('SET', 'maxmemory', '1');
  const statuses = [
    await call('settings', { retention: { completedSeconds: 60 }, maxPending: 3 }, 'PATCH'),
    await call('settings', { maxPending: null }, 'PATCH'),
    await call('pause', { names: ['work', 'other'] }),
    (await poll()).length,
    await call('pause', {}),
    await call('resume', { names: ['work'] }),
    await call('resume', {}),
  ];
  const [job] = await poll();
  await service.redis.config('SET', 'maxmemory', '0');
  expect([statuses, job?.id]).toEqual([[200, 200, 200, 0, 200, 200, 200], id]);
});

it('creates no API key while Redis is full, but revokes one with all keys that it created', async () => {
  const maker = await service.key(['keys:manage', 'jobs:read'], { spaceId: 'full-keys' });
  for (let n = 0; n < 120; n++)
    await service.call('POST', '/keys', { key: maker.key, body: { name: 'made', scopes: ['jobs:read'] } });
  const statuses = await whenFull(async () => [
    (await service.call('POST', '/keys', { body: { name: 'late', scopes: ['jobs:read'] } })).body.code,
    (await service.call('DELETE', `/keys/${maker.id}`)).status,
  ]);
  expect(statuses).toEqual(['STORAGE_FULL', 200]);
  expect((await service.call('GET', '/keys')).body).toEqual([]);
});
