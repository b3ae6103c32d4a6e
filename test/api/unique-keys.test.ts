import { expect, it } from '@jest/globals';
import { STATUSES, type Status } from '@yardmaster/protocol';
import { newJobId } from '@yardmaster/store';
import { jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

/** Statuses in which a job occupies its key, by `until`. */
const OCCUPIED: Record<string, readonly Status[]> = {
  ended: ['scheduled', 'pending', 'delivered', 'running'],
  started: ['scheduled', 'pending', 'delivered'],
  expired: STATUSES,
};
const HOUR = { until: 'expired', ttlSeconds: 3_600 };

// The field `unique` of Create Job.

const service = withService();
let spaces = 0;
const newSpace = () => `unique-${++spaces}`;
const create = (space: string, unique: unknown, fields = {}, key?: string) =>
  service.call('POST', `/spaces/${space}/jobs`, { body: { name: 'work', unique, ...fields }, ...(key && { key }) });
const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const purge = async (id: string) => {
  await service.redis.zadd(service.store.keys.deadlines(id.slice(0, 2)), 1, id);
  await until(async () => (await service.call('GET', `/jobs/${id}`)).status === 404);
};
const producer = async () => (await service.key(['jobs:create'])).key;

const rows = Object.entries(OCCUPIED).flatMap(([until, occupied]) =>
  STATUSES.map((status) => ({ until, status, is: occupied.includes(status) ? 'occupied' : 'free' })),
);
it.each(rows)('a unique key until $until of a $status job is $is', async ({ until, status, is }) => {
  const space = newSpace();
  const unique = until === 'expired' ? { key: 'k', ...HOUR } : { key: 'k', until };
  const id = await jobIn(service, status, space, { unique, maxRetries: 0 });
  const response = await create(space, { key: 'k' });
  if (is === 'free') expect([response.status, response.body.id === id]).toEqual([201, false]);
  else expect([response.status, response.body.id, response.body.status]).toEqual([200, id, status]);
});

it('a retried job keeps its unique key, unless an ack has freed it', async () => {
  const space = newSpace();
  for (const [lasts, status] of [
    ['ended', 200],
    ['started', 201],
  ] as const) {
    const id = await jobIn(service, 'running', space, { unique: { key: lasts, until: lasts } });
    await step(service, id, 'fail', { error: 'again' });
    expect([(await read(id)).status, (await create(space, { key: lasts })).status]).toEqual(['pending', status]);
  }
});

it('frees an expired unique key for the next job, and not again when the first job is purged', async () => {
  const space = newSpace();
  const { body: first } = await create(space, { key: 'k', until: 'expired', ttlSeconds: 1 });
  let second: { status: number; body: { id: string } } = { status: 0, body: { id: '' } };
  await until(async () => {
    second = await create(space, { key: 'k', ...HOUR });
    return second.status === 201;
  });
  // It must not occupy the key again when the clock steps back, nor free it at its purge.
  expect(await service.redis.hget(service.store.keys.job(first.id), 'uniqueFreed')).toBe('1');
  await step(service, first.id, 'kill', {});
  await purge(first.id);
  expect((await create(space, { key: 'k' })).body.id).toBe(second.body.id);
});

it('keeps the unique key of the next job when an earlier job ends', async () => {
  const space = newSpace();
  const first = await jobIn(service, 'running', space, { unique: { key: 'k', until: 'started' } });
  const { body: next } = await create(space, { key: 'k' });
  await step(service, first, 'complete', {});
  expect(await create(space, { key: 'k' })).toMatchObject({ status: 200, body: { id: next.id } });
});

it('frees an expired unique key when its job is purged', async () => {
  const space = newSpace();
  const id = await jobIn(service, 'killed', space, { unique: { key: 'k', ...HOUR } });
  expect((await create(space, { key: 'k' })).status).toBe(200);
  await purge(id);
  expect(await service.redis.hgetall(service.store.keys.unique(space))).toEqual({});
  expect((await create(space, { key: 'k' })).status).toBe(201);
});

it('treats a unique key as free if its entry names no job, or a job with another key', async () => {
  const space = newSpace();
  const other = await jobIn(service, 'pending', space, { unique: { key: 'other' } });
  const index = service.store.keys.unique(space);
  for (const id of [newJobId(space), other]) {
    await service.redis.hset(index, '4:workk', id);
    const { status, body } = await create(space, { key: 'k' });
    expect([status, await service.redis.hget(index, '4:workk')]).toEqual([201, body.id]);
    await step(service, body.id, 'kill', {});
  }
  expect(await service.redis.hgetall(index)).toEqual({ '4:workother': other });
});

it('compares unique keys among the jobs of one name and one space', async () => {
  const [space, other] = [newSpace(), newSpace()];
  expect((await create(space, { key: 'bc' }, { name: 'a' })).status).toBe(201);
  expect((await create(space, { key: 'c' }, { name: 'ab' })).status).toBe(201);
  expect((await create(space, { key: 'bc' }, { name: 'b' })).status).toBe(201);
  expect((await create(other, { key: 'bc' }, { name: 'a' })).status).toBe(201);
  expect((await create(space, { key: 'bc' }, { name: 'a' })).status).toBe(200);
});

it('shows the fields of unique that differ from their defaults', async () => {
  const space = newSpace();
  for (const unique of [
    { key: 'ü "\n' },
    { key: 'b', until: 'started', onConflict: 'reject' },
    { key: 'c', until: 'expired', ttlSeconds: 31_622_400, onConflict: 'replace' },
  ]) {
    const written = { until: 'ended', onConflict: 'return', ttlSeconds: null, ...unique };
    const { status, body } = await create(space, written);
    expect([status, body.unique]).toEqual([201, unique]);
    expect((await read(body.id)).unique).toEqual(unique);
    const { body: jobs } = await service.call('GET', `/spaces/${space}/jobs`);
    expect(jobs[0].unique).toEqual(unique);
  }
  const { body } = await create(space, null);
  expect([Object.keys(body), Object.keys(await read(body.id))].flat()).not.toContain('unique');
});

it('returns the whole job of a unique key to a caller with jobs:read, and only four fields to others', async () => {
  const space = newSpace();
  const id = await jobIn(service, 'completed', space, { unique: { key: 'k', ...HOUR }, payload: { n: 1 } });
  const { events, ...job } = await read(id);
  expect(job.result).not.toBeNull();
  expect(await create(space, { key: 'k' })).toMatchObject({ status: 200, body: job });
  for (const onConflict of ['return', 'replace']) {
    const { status, body } = await create(space, { key: 'k', onConflict }, {}, await producer());
    expect([status, body]).toEqual([200, { id, name: 'work', status: 'completed', createdAt: job.createdAt }]);
  }
});

it('refuses a create with onConflict reject, and names the other job', async () => {
  const space = newSpace();
  const jobId = await jobIn(service, 'running', space, { unique: { key: 'k' } });
  const { status, body } = await create(space, { key: 'k', onConflict: 'reject' }, {}, await producer());
  const error = 'Another job has this unique key';
  expect([status, body]).toEqual([409, { error, code: 'JOB_NOT_UNIQUE', jobId, jobStatus: 'running' }]);
});

it('replaces a pending job except for its ID, its place in the queue and its history', async () => {
  const space = newSpace();
  const fields = {
    payload: { n: 1 },
    maxRetries: 9,
    timeoutSeconds: 9,
    callbackUrl: 'https://example.com',
    callbackHeaders: { a: 'b' },
  };
  const { body: first } = await create(space, { key: 'k', until: 'started' }, fields);
  const last = await jobIn(service, 'pending', space);
  const unique = { key: 'k', onConflict: 'replace' };
  const { status, body } = await create(space, unique, { payload: { n: 2 }, timeoutSeconds: 7.5 });
  const expected = {
    ...first,
    payload: { n: 2 },
    maxRetries: 3,
    timeoutSeconds: 7.5,
    callbackUrl: null,
    callbackHeaders: null,
  };
  expect([status, body]).toEqual([200, { ...expected, unique, updatedAt: body.updatedAt }]);
  const { events, ...job } = await read(first.id);
  expect(job).toEqual(body);
  expect(events[1]).toEqual({
    id: `${first.id}.2`,
    jobId: first.id,
    spaceId: space,
    type: 'replaced',
    data: null,
    createdAt: body.updatedAt,
  });
  const { body: polled } = await service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 2 } });
  expect(polled.jobs.map(({ id }: { id: string }) => id)).toEqual([first.id, last]);
  expect(polled.jobs[0]).toMatchObject({ payload: { n: 2 }, maxRetries: 3, timeoutSeconds: 7.5 });
});

it('removes the checkpoint of a replaced job, and keeps its attempts', async () => {
  const space = newSpace();
  const id = await jobIn(service, 'running', space, { unique: { key: 'k' } });
  await step(service, id, 'checkpoint', { page: 7 });
  await step(service, id, 'fail', { error: 'again' });
  expect((await create(space, { key: 'k', onConflict: 'replace' }, { maxRetries: 0 })).body).toMatchObject({
    id,
    attemptNumber: 1,
  });
  const { body } = await service.call('POST', `/jobs/${id}/claim`);
  expect(body.job).toMatchObject({ id, checkpoint: null, attemptNumber: 1, maxRetries: 0 });
});

it.each(['delivered', 'running'] as const)('returns a %s job of a unique key instead of replacing it', async (at) => {
  const space = newSpace();
  const id = await jobIn(service, at, space, { unique: { key: 'k' }, payload: { n: 1 } });
  const before = await read(id);
  const { status, body } = await create(space, { key: 'k', onConflict: 'replace' }, { payload: { n: 2 } });
  expect([status, body.id, body.status, body.payload]).toEqual([200, id, at, { n: 1 }]);
  expect(await read(id)).toEqual(before);
});

it('keeps one job with the last payload after many replacements', async () => {
  const space = newSpace();
  for (let n = 0; n < 50; n++) await create(space, { key: 'k', onConflict: 'replace' }, { payload: { n } });
  const { body: jobs } = await service.call('GET', `/spaces/${space}/jobs`);
  expect(jobs).toMatchObject([{ payload: { n: 49 }, status: 'pending' }]);
});

it('a unique key has at most one job while producers create it concurrently and jobs end', async () => {
  const space = newSpace();
  for (let round = 0; round < 10; round++) {
    const before = await create(space, { key: 'k' });
    const creates = Array.from({ length: 12 }, () =>
      create(space, { key: 'k', onConflict: round % 2 ? 'reject' : 'return' }),
    );
    await Promise.all([step(service, before.body.id, 'kill', {}), ...creates]);
    const { body: live } = await service.call('GET', `/spaces/${space}/jobs?status=pending`);
    expect(live.length).toBeLessThanOrEqual(1);
    const made = (await Promise.all(creates)).filter(({ status }) => status === 201);
    expect(made.map(({ body }) => body.id)).toEqual(live.map(({ id }: { id: string }) => id));
  }
});
