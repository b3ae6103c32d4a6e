import { describe, expect, it } from '@jest/globals';
import { step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { EVERY_MINUTE, iso, MINUTE, minutesAgo, schedulesOf } from './schedules.js';

const service = withService();
const of = (name: string) => schedulesOf(service, `schedules-run-${name}`);
const statusOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body.status;

/** Put a schedule of every minute, let a past time be its next one, and wait until it is done. */
async function fire(name: string, id: string, minutes: number, body: object = {}) {
  const schedules = of(name);
  const before = await schedules.put(id, { cron: EVERY_MINUTE, ...body });
  const at = minutesAgo(minutes);
  await schedules.setNext(id, at);
  await until(async () => {
    const { fired, skipped } = await schedules.get(id);
    return fired + skipped > before.fired + before.skipped;
  });
  return { ...schedules, at, after: await schedules.get(id) };
}

it('creates the job of a due time, pending at once, with the time and the schedule', async () => {
  const job = { name: 'tick', payload: { a: 1 }, tags: ['x'], priority: 5 };
  const { after, jobs, at } = await fire('due', 'a', 0, { job });
  const [created, ...others] = await jobs('a');
  expect(others).toEqual([]);
  expect(created).toMatchObject({ ...job, status: 'pending', scheduleId: 'a', scheduledFor: iso(at) });
  expect(after).toMatchObject({ fired: 1, skipped: 0, lastAt: iso(at), lastJobId: created.id, lastSkipped: null });
  expect(after.nextAt).toBe(iso(at + MINUTE));
});

it('creates one job for the latest of several missed times', async () => {
  const { after, jobs } = await fire('missed', 'a', 5);
  const [created, ...others] = await jobs('a');
  expect(others).toEqual([]);
  const latest = Date.parse(created.scheduledFor);
  expect(after).toMatchObject({ fired: 1, skipped: 5, lastSkipped: { at: iso(latest - MINUTE), reason: 'MISSED' } });
});

it.each<[why: string, body: object, minutes: number]>([
  ['are missed with `missed: skip`', { cron: '0 0 1 1 *', missed: 'skip' }, 3],
  ['are older than `missedWithinSeconds`', { cron: '0 0 1 1 *', missedWithinSeconds: 60 }, 3],
])('creates no job for times that %s', async (_, body, minutes) => {
  const { after, jobs, at } = await fire('skipped', Object.keys(body).at(-1) as string, minutes, body);
  expect(after).toMatchObject({
    fired: 0,
    skipped: 1,
    lastSkipped: { at: iso(at), reason: 'MISSED' },
    lastJobId: null,
  });
  expect(await jobs(after.id)).toEqual([]);
});

describe('while the last job has not ended', () => {
  it('skips a time by default', async () => {
    const { put, call } = of('overlap');
    await put('skip', { cron: EVERY_MINUTE });
    const { body } = await call('POST', '/skip/run');
    const { after, jobs, at } = await fire('overlap', 'skip', 0);
    expect(after).toMatchObject({
      fired: 0,
      skipped: 1,
      lastSkipped: { at: iso(at), reason: 'OVERLAP' },
      lastJobId: body.id,
    });
    await service.call('POST', `/jobs/${body.id}/kill`);
    expect((await fire('overlap', 'skip', 0)).after).toMatchObject({ fired: 1, skipped: 1 });
    expect(await jobs('skip')).toHaveLength(2);
  });

  it('creates another job with `overlap: allow`', async () => {
    const { put, call, jobs } = of('overlap');
    await put('allow', { cron: EVERY_MINUTE, overlap: 'allow' });
    await call('POST', '/allow/run');
    expect((await fire('overlap', 'allow', 0, { overlap: 'allow' })).after).toMatchObject({ fired: 1, skipped: 0 });
    expect((await jobs('allow')).map(({ status }: { status: string }) => status)).toEqual(['pending', 'pending']);
  });

  it.each([
    ['', {}],
    ['its unique key', { unique: { key: 'k' } }],
  ])('kills it with `overlap: replace`, even when it holds %s', async (title, more) => {
    const id = `replace${title.length}`;
    const body = { overlap: 'replace', job: { name: id, ...more } };
    const { put, call } = of('overlap');
    await put(id, { cron: EVERY_MINUTE, ...body });
    const last = (await call('POST', `/${id}/run`)).body;
    await step(service, last.id, 'claim');
    await step(service, last.id, 'ack');
    const { after } = await fire('overlap', id, 0, body);
    expect(after).toMatchObject({ fired: 1, skipped: 0 });
    expect(after.lastJobId).not.toBe(last.id);
    expect(await statusOf(after.lastJobId as string)).toBe('pending');
    const { status, events } = (await service.call('GET', `/jobs/${last.id}`)).body;
    expect(status).toBe('killed');
    expect(events.at(-1).data).toEqual({ reason: `Replaced by the next run of schedule ${id}` });
  });
});

describe('a unique key', () => {
  it.each(['return', 'reject'])('held by another job skips a time with onConflict %s', async (onConflict) => {
    const space = `unique-${onConflict}`;
    const job = { name: 'keyed', unique: { key: 'k', onConflict } };
    await service.call('POST', `/spaces/schedules-run-${space}/jobs`, { body: job });
    const { after, at, call } = await fire(space, 'a', 0, { job });
    expect(after).toMatchObject({ fired: 0, skipped: 1, lastSkipped: { at: iso(at), reason: 'JOB_NOT_UNIQUE' } });
    const { status, body } = await call('POST', '/a/run');
    expect([status, body.code]).toEqual(onConflict === 'return' ? [200, undefined] : [409, 'JOB_NOT_UNIQUE']);
  });

  it('of a waiting job gives it the request of the schedule with onConflict replace, which counts as a run', async () => {
    const space = 'schedules-run-unique-replace';
    const job = { name: 'keyed', unique: { key: 'k', onConflict: 'replace' } };
    const other = (await service.call('POST', `/spaces/${space}/jobs`, { body: { ...job, payload: { old: 1 } } })).body;
    const { after, jobs } = await fire('unique-replace', 'a', 0, { job: { ...job, payload: { n: 1 } } });
    expect(after).toMatchObject({ fired: 1, skipped: 0, lastJobId: other.id });
    expect(await jobs('a')).toMatchObject([{ id: other.id, payload: { n: 1 }, scheduleId: 'a' }]);
  });
});

it('skips a time while the space is full', async () => {
  const space = 'schedules-run-full';
  await service.call('PATCH', `/spaces/${space}/settings`, { body: { maxPending: 0 } });
  const { after, at, call } = await fire('full', 'a', 0);
  expect(after).toMatchObject({ fired: 0, skipped: 1, lastSkipped: { at: iso(at), reason: 'SPACE_FULL' } });
  expect((await call('POST', '/a/run')).body).toMatchObject({ code: 'SPACE_FULL' });
  await service.call('PATCH', `/spaces/${space}/settings`, { body: { maxPending: null } });
});

it('applies the defaults of its space when the job is created', async () => {
  const space = 'schedules-run-defaults';
  const { put } = of('defaults');
  await put('a', { cron: EVERY_MINUTE, job: { name: 'work', timeoutSeconds: 7 } });
  const defaults = { maxRetries: 9, timeoutSeconds: 8, retry: { delaySeconds: 3 } };
  await service.call('PATCH', `/spaces/${space}/settings`, { body: { defaults } });
  const { jobs } = await fire('defaults', 'a', 0, { job: { name: 'work', timeoutSeconds: 7 } });
  expect(await jobs('a')).toMatchObject([{ ...defaults, timeoutSeconds: 7 }]);
  await service.call('PATCH', `/spaces/${space}/settings`, { body: { defaults: null } });
});

it('creates jobs in a paused space, which can be claimed once it is resumed', async () => {
  const space = 'schedules-run-paused';
  await service.call('POST', `/spaces/${space}/pause`);
  const { after } = await fire('paused', 'a', 0);
  expect(await statusOf(after.lastJobId as string)).toBe('pending');
  const poll = () => service.call('POST', `/spaces/${space}/jobs/poll`, { body: {} });
  expect((await poll()).body.jobs).toEqual([]);
  await service.call('POST', `/spaces/${space}/resume`);
  expect((await poll()).body.jobs).toMatchObject([{ id: after.lastJobId }]);
});

describe('a run on demand', () => {
  it('creates a job now, even while the schedule is paused, and leaves the next time unchanged', async () => {
    const { put, call, get } = of('demand');
    const before = await put('a', { cron: EVERY_MINUTE, job: { name: 'work', payload: { a: 1 } } });
    const run = await call('POST', '/a/run', { payload: { b: 2 } });
    expect(run).toMatchObject({ status: 201, body: { payload: { b: 2 }, scheduleId: 'a', status: 'pending' } });
    expect(Date.parse(run.body.createdAt) - Date.parse(run.body.scheduledFor)).toBeLessThan(60_000);
    expect(await get('a')).toMatchObject({ nextAt: before.nextAt, fired: 0, lastAt: null, lastJobId: run.body.id });
    const refused = { error: 'The last job of this schedule has not ended', code: 'SCHEDULE_RUNNING' };
    expect((await call('POST', '/a/run')).body).toEqual({ ...refused, jobId: run.body.id, jobStatus: 'pending' });
    await service.call('POST', `/jobs/${run.body.id}/kill`);
    await call('PATCH', '/a', { paused: true });
    expect(await call('POST', '/a/run')).toMatchObject({ status: 201, body: { payload: { a: 1 } } });
  });

  it('of one schedule does not depend on the jobs of another', async () => {
    const { put, call } = of('demand');
    await put('b', { cron: EVERY_MINUTE });
    await put('c', { cron: EVERY_MINUTE });
    expect((await call('POST', '/b/run')).status).toBe(201);
    expect((await call('POST', '/c/run')).status).toBe(201);
  });
});

it.each([[['x', 'y']], [undefined]])('a copy of a job with the tags %j is not a job of the schedule', async (tags) => {
  const { put, call, jobs } = of(`copy-${tags}`.replace(',', '-'));
  await put('a', { cron: EVERY_MINUTE, job: { name: 'work', ...(tags && { tags }) } });
  const { id } = (await call('POST', '/a/run')).body;
  const copy = await service.call('POST', `/jobs/${id}/copy`, { body: {} });
  expect(copy.body.tags).toEqual(tags);
  expect(copy.body).not.toHaveProperty('scheduleId');
  expect(await jobs('a', tags ? '&tag=x' : '')).toMatchObject([{ id }]);
});

it('lists and kills the jobs of one schedule', async () => {
  const { put, call, jobs } = of('filter');
  for (const id of ['a', 'b']) {
    await put(id, { cron: EVERY_MINUTE, overlap: 'allow' });
    await call('POST', `/${id}/run`);
    await call('POST', `/${id}/run`);
  }
  const filter = { status: ['pending'], schedule: 'a' };
  const path = '/spaces/schedules-run-filter/operations';
  const { body } = await service.call('POST', path, { body: { action: 'kill', filter } });
  await until(async () => (await service.call('GET', `/operations/${body.id}`)).body.status === 'done');
  const statuses = async (id: string) => (await jobs(id)).map(({ status }: { status: string }) => status);
  expect([await statuses('a'), await statuses('b')]).toEqual([Array(2).fill('killed'), Array(2).fill('pending')]);
});

it('does nothing at a time for which the job exists already, as after a restore', async () => {
  const { at, after, setNext, get, jobs } = await fire('restored', 'a', 0, { overlap: 'allow' });
  await setNext('a', at);
  await until(async () => Date.parse((await get('a')).nextAt as string) > at);
  expect(await jobs('a')).toMatchObject([{ id: after.lastJobId }]);
  expect(await get('a')).toMatchObject({ fired: 1, skipped: 0 });
});
