import { beforeEach, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const service = withService();

let space: string;
let spaces = 0;
beforeEach(() => {
  space = `pause-${++spaces}`;
});

const call = (verb: string, body: unknown = {}) => service.call('POST', `/spaces/${space}/${verb}`, { body });
const done = async (verb: string, body?: unknown) =>
  expect(await call(verb, body)).toMatchObject({ status: 200, body: { success: true } });
const poll = async (body: object = {}): Promise<string[]> =>
  (await call('jobs/poll', body)).body.jobs.map(({ id }: { id: string }) => id);
const create = async (name: string, fields = {}) => (await createJob(service, space, { name, ...fields })).id;
const claim = async (id: string) => (await service.call('POST', `/jobs/${id}/claim`)).body;
const stats = async () => (await service.call('GET', `/spaces/${space}/stats`)).body;
const PAUSED = { claimed: false, reason: 'paused', status: 'pending' };

it('a paused space delivers no job, counts its jobs as pending, and lets running work continue', async () => {
  const running = await jobIn(service, 'running', space);
  const delivered = await jobIn(service, 'delivered', space);
  const waiting = await create('work');
  await done('pause');
  expect([await poll({ count: 50 }), await poll({ types: ['work'] }), await claim(waiting)]).toEqual([[], [], PAUSED]);
  expect(await claim(running)).toEqual({ claimed: false, reason: 'not_pending', status: 'running' });
  const later = await create('work');
  expect(await claim(later)).toEqual(PAUSED);
  await step(service, delivered, 'ack');
  await step(service, running, 'progress', { percent: 1, message: 'x' });
  await step(service, running, 'keepalive');
  const body = { settle: [{ jobId: running, action: 'complete' }], count: 5 };
  expect((await call('jobs/poll', body)).body).toEqual({ jobs: [], settled: [{ jobId: running, success: true }] });
  expect(await stats()).toMatchObject({ paused: true, jobs: { pending: 2, running: 1, completed: 1 } });
  expect((await service.call('GET', `/spaces/${space}/settings`)).body).toEqual({ paused: true });

  await done('resume');
  expect(await poll({ count: 50 })).toEqual([waiting, later]);
  expect(await stats()).not.toHaveProperty('paused');
  expect((await service.call('GET', `/spaces/${space}/settings`)).body).toEqual({});
});

it('a space can be paused and resumed repeatedly, even before it has jobs', async () => {
  for (const verb of ['pause', 'pause', 'resume', 'resume']) await done(verb);
  const id = await create('work');
  expect(await poll()).toEqual([id]);
});

it('jobs with paused names hide no other jobs, and return to their places after the resume', async () => {
  const [first, other, second] = [await create('slow'), await create('fast'), await create('slow')];
  const urgent = await create('slow', { priority: 600 });
  const last = await create('fast');
  await done('pause', { names: ['slow'] });
  expect(await poll()).toEqual([other]);
  expect(await poll({ types: ['slow'], count: 50 })).toEqual([]);
  expect(await claim(second)).toEqual(PAUSED);
  expect(await stats()).toMatchObject({ paused: ['slow'], jobs: { pending: 4, delivered: 1 } });
  await done('resume', { names: ['slow', 'fast'] });
  expect(await poll({ count: 50 })).toEqual([urgent, first, second, last]);
});

it.each([
  ['a poll', 50, false],
  ['a poll that settles', 2, true],
  ['a poll that settles and asks for many', 50, true],
])('more jobs with paused names than one script reads hide no jobs behind them: %s', async (_, count, settles) => {
  const running = await jobIn(service, 'running', space);
  const named = (name: string, jobs: number) => Array.from({ length: jobs }, () => ({ name }));
  await call('jobs', [...named('slow', 997), ...named('fast', 3)]);
  await done('pause', { names: ['slow'] });
  const settle = settles ? [{ jobId: running, action: 'complete' }] : [];
  const { body } = await call('jobs/poll', { count, settle });
  expect(body.jobs).toHaveLength(Math.min(count, 3));
  expect(body.settled).toEqual(settle.map(({ jobId }) => ({ jobId, success: true })));
});

it('a poll for paused and other names returns only jobs with the other names', async () => {
  await create('slow');
  const other = await create('fast');
  await done('pause', { names: ['slow'] });
  expect(await poll({ types: ['slow', 'fast'], count: 50 })).toEqual([other]);
});

it('a paused name holds jobs that return to the queue by release, retry, schedule or delivery timeout', async () => {
  const released = await jobIn(service, 'running', space, { name: 'slow' });
  const failed = await jobIn(service, 'running', space, { name: 'slow', maxRetries: 1 });
  const ready = await create('slow', { delaySeconds: 0.05 });
  await done('pause', { names: ['slow'] });
  await step(service, released, 'release');
  await step(service, failed, 'fail', { error: 'x' });
  await until(async () => (await service.call('GET', `/jobs/${ready}`)).body.status === 'pending');
  const other = await create('fast');
  expect(await poll({ count: 50 })).toEqual([other]);
  const { oldestPendingAgeSeconds, names } = await stats();
  expect(oldestPendingAgeSeconds).toBeGreaterThan(0);
  expect(names).toContainEqual(expect.objectContaining({ name: 'slow', pending: 3 }));
  await done('resume', { names: ['slow'] });
  expect((await poll({ count: 50 })).sort()).toEqual([released, failed, ready].sort());
});

it('a paused name keeps the place of a job whose request is replaced', async () => {
  const first = await create('slow', { unique: { key: 'k' } });
  const second = await create('slow');
  await done('pause', { names: ['slow'] });
  expect(await poll({ count: 50 })).toEqual([]);
  const body = { name: 'slow', payload: { n: 2 }, unique: { key: 'k', onConflict: 'replace' } };
  expect(await call('jobs', body)).toMatchObject({ status: 200, body: { id: first } });
  await done('resume');
  expect(await poll({ count: 50 })).toEqual([first, second]);
});

it('names stay paused while the whole space is paused, until a resume without names resumes everything', async () => {
  const [slow, fast] = [await create('slow'), await create('fast')];
  await done('pause', { names: ['slow'] });
  await done('pause');
  await done('resume', { names: ['slow'] });
  expect([await claim(slow), (await stats()).paused]).toEqual([PAUSED, true]);
  await done('pause', { names: ['slow', 'fast'] });
  await done('resume');
  expect(await poll({ count: 50 })).toEqual([slow, fast]);
});

it('a paused name can be a JavaScript keyword and contain any valid character', async () => {
  for (const name of ['__proto__', 'constructor', 'a/b', '>1', '1']) {
    const id = await create(name);
    await done('pause', { names: [name] });
    expect([await poll({ count: 50 }), (await stats()).paused]).toEqual([[], [name]]);
    await done('resume', { names: [name] });
    expect(await poll({ count: 50 })).toEqual([id]);
  }
});

it.each([
  [{ names: [] }, 'names must not be empty'],
  [{ names: 'slow' }, 'names must be an array of strings'],
  [{ names: ['slow', ''] }, 'names[1] must be 1 to 128 characters'],
  [{ name: ['slow'] }, 'unknown field name, did you mean names?'],
  [{ names: Array.from({ length: 101 }, (_, n) => `n${n}`) }, 'names must have at most 100 names'],
])('pause and resume refuse %j', async (body, error) => {
  const id = await create('slow');
  for (const verb of ['pause', 'resume'])
    expect(await call(verb, body)).toMatchObject({ status: 400, body: { error } });
  expect(await poll()).toEqual([id]);
});

it('a space can have at most 100 paused names', async () => {
  const names = Array.from({ length: 100 }, (_, n) => `n${n}`);
  await done('pause', { names });
  await done('pause', { names });
  expect(await call('pause', { names: ['one more'] })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_REQUEST' },
  });
  await done('pause');
  await done('resume');
  await done('pause', { names: ['one more'] });
  expect((await stats()).paused).toEqual(['one more']);
});
