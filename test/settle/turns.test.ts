import { expect, it } from '@jest/globals';
import { readState } from '../support/job-state.js';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { untilWaiting, withApi } from '../waiting/api.js';
import { itemOf, poll, read, settle, single, tokenFor } from './settle.js';

const service = withService();
const api = withApi(service, { hasChecks: false });

let spaces = 0;
const newSpace = () => `turn-${++spaces}-${process.pid}`;
const idsOf = (jobs: { id: string }[]) => jobs.map(({ id }) => id);
const typesOf = ({ events }: { events: { type: string }[] }) => events.map(({ type }) => type);

it.each([1, 6])(
  'poll settles before it claims, so that it can claim a job it has just released, with %s',
  async (count) => {
    const space = newSpace();
    const done = await Promise.all(Array.from({ length: count }, () => jobIn(service, 'running', space)));
    const back = await jobIn(service, 'running', space);
    const next = await createJob(service, space);
    const items = await Promise.all(done.map(async (id) => itemOf(id, 'complete', await tokenFor(service, id, '0.0'))));
    items.push({ jobId: back, action: 'release' });
    const { body } = await poll(service, space, { count: 5, settle: items });
    expect(body.settled).toEqual(items.map(({ jobId }) => ({ jobId, success: true })));
    expect(idsOf(body.jobs)).toEqual([back, next.id]);
    expect(body.jobs[0]).toMatchObject({ deliveryToken: await tokenFor(service, back, '0.1'), attempt: 1 });
  },
);

it('poll returns settled only if it settles outcomes', async () => {
  const space = newSpace();
  expect((await poll(service, space)).body).toEqual({ jobs: [] });
  expect((await poll(service, space, { autoAck: true })).body).toEqual({ jobs: [] });
  expect((await poll(service, space, { settle: [] })).body).toEqual({ jobs: [], settled: [] });
});

it('poll claims the requested names even if an outcome is refused', async () => {
  const space = newSpace();
  const pending = await createJob(service, space);
  const wanted = await createJob(service, space, { name: 'resize' });
  const { body } = await poll(service, space, {
    count: 9,
    types: ['resize'],
    settle: [itemOf(pending.id, 'complete')],
  });
  expect(idsOf(body.jobs)).toEqual([wanted.id]);
  expect(body.settled).toMatchObject([
    { jobId: pending.id, success: false, code: 'JOB_NOT_RUNNING', jobStatus: 'pending' },
  ]);
});

it.each([1, 7])(
  'poll with autoAck returns %s running jobs, with both events and the token of their delivery',
  async (count) => {
    const space = newSpace();
    for (let n = 0; n < count; n++) await createJob(service, space, { maxRetries: 1 });
    const { body } = await poll(service, space, { count, autoAck: true });
    expect(body.jobs).toHaveLength(count);
    for (const job of body.jobs) {
      expect(job).toMatchObject({
        attemptNumber: 0,
        attempt: 1,
        deliveryToken: await tokenFor(service, job.id, '0.0'),
      });
      const running = await read(service, job.id);
      expect(running).toMatchObject({ status: 'running', attemptNumber: 1, startedAt: running.deliveredAt });
      expect(running.events.map(({ id, type }: { id: string; type: string }) => [id, type])).toEqual(
        ['created', 'delivered', 'acked'].map((type, i) => [`${job.id}.${i + 1}`, type]),
      );
      for (const action of ['ack', 'complete', 'complete'] as const)
        expect((await single(service, job.id, action, job.deliveryToken)).body).toEqual({ success: true });
      expect(typesOf(await read(service, job.id)).slice(3)).toEqual(['completed']);
    }
  },
);

it('poll with autoAck starts an attempt like an ack: its limits, the time to start and the unique key', async () => {
  const space = newSpace();
  const fields = {
    maxRunSeconds: 50,
    startWithinSeconds: 90,
    unique: { key: 'k', until: 'started' },
    timeoutSeconds: 70,
  };
  const { redis, store } = service;
  const acked = await jobIn(service, 'running', space, fields);
  const { id } = await createJob(service, space, fields);
  expect(idsOf((await poll(service, space, { autoAck: true })).body.jobs)).toEqual([id]);
  const recordOf = async (jobId: string) => {
    const { startBy, runBy, uniqueFreed } = await redis.hgetall(store.keys.job(jobId));
    const { updatedAt, attempt, status } = await readState(redis, store.keys.job(jobId));
    const partition = jobId.slice(0, 2);
    const deadline = await redis.zscore(store.keys.deadlines(partition), jobId);
    const due = await redis.zscore(store.keys.due(partition), jobId);
    return {
      startBy,
      uniqueFreed,
      attempt,
      status,
      due,
      run: Number(runBy) - Number(updatedAt),
      isRun: deadline === runBy,
    };
  };
  const expected = {
    startBy: '0',
    uniqueFreed: '1',
    attempt: '1',
    status: 'running',
    due: null,
    run: 50_000,
    isRun: true,
  };
  expect([await recordOf(acked), await recordOf(id)]).toEqual([expected, expected]);
  expect((await createJob(service, space, fields)).id).not.toBe(id);
});

it('poll with ackWithinSeconds sets the delivery window, shows it to a late ack, and not to the next delivery', async () => {
  const space = newSpace();
  const { redis, store } = service;
  const { id } = await createJob(service, space);
  const partition = id.slice(0, 2);
  const windowOf = async () =>
    Number(await redis.zscore(store.keys.deadlines(partition), id)) -
    Number(await redis.hget(store.keys.job(id), 'deliveredAt'));
  await poll(service, space, { ackWithinSeconds: 300 });
  expect(await windowOf()).toBe(300_000);
  await step(service, id, 'release');
  await poll(service, space);
  expect(await windowOf()).toBe(30_000);
  await step(service, id, 'release');
  await poll(service, space, { ackWithinSeconds: 300 });
  await redis.hset(store.keys.job(id), 'deliveredAt', 1_000_000);
  await redis.zadd(store.keys.deadlines(partition), 1_300_000, id);
  await until(async () => (await read(service, id)).status === 'pending');
  const hint = 'Job was not acked within 300 s of its delivery and is pending again';
  expect((await single(service, id, 'ack')).body).toMatchObject({ code: 'JOB_NOT_DELIVERED', hint });
  for (const count of [1, 6]) {
    const { body } = await settle(service, space, Array(count).fill(itemOf(id, 'ack')));
    expect(body.results).toEqual(Array(count).fill(expect.objectContaining({ code: 'JOB_NOT_DELIVERED', hint })));
  }
  await poll(service, space);
  expect(await windowOf()).toBe(30_000);
});

it.each([0, 0.5, 3_601, '5'])('poll refuses ackWithinSeconds of %j', async (ackWithinSeconds) => {
  const { status, body } = await poll(service, 'any', { ackWithinSeconds });
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
  expect(body.error).toMatch(/^ackWithinSeconds must/);
});

it.each([
  ['complete', {}],
  ['fail', { error: 'x' }],
  ['release', {}],
])('a job shows the workerId of its poll until %s', async (verb, body) => {
  const space = newSpace();
  const { id } = await createJob(service, space);
  await poll(service, space, { workerId: 'w-17 "ä"' });
  expect(await read(service, id)).toMatchObject({ status: 'delivered', workerId: 'w-17 "ä"' });
  await step(service, id, 'ack');
  expect(await read(service, id)).toMatchObject({ status: 'running', workerId: 'w-17 "ä"' });
  await step(service, id, verb, body);
  expect(await read(service, id)).not.toHaveProperty('workerId');
  if (verb === 'complete') return;
  await step(service, id, 'claim');
  expect(await read(service, id)).not.toHaveProperty('workerId');
});

it('poll that settles and may wait returns immediately if an outcome is refused', async () => {
  const space = newSpace();
  const { id } = await createJob(service, 'another');
  const { body } = await poll(api, space, { waitSeconds: 20, settle: [itemOf(id, 'complete')] });
  expect(body).toMatchObject({ jobs: [], settled: [{ jobId: id, success: false }] });
});

it('poll that settles and may wait waits if all outcomes are accepted, and then returns both results and jobs', async () => {
  const space = newSpace();
  const done = await jobIn(service, 'running', space);
  const waiting = poll(api, space, {
    waitSeconds: 20,
    autoAck: true,
    workerId: 'w',
    settle: [itemOf(done, 'complete')],
  });
  await untilWaiting(api, 1);
  expect((await read(service, done)).status).toBe('completed');
  const { id } = await createJob(service, space);
  const { body } = await waiting;
  expect({ ids: idsOf(body.jobs), settled: body.settled }).toEqual({
    ids: [id],
    settled: [{ jobId: done, success: true }],
  });
  expect(await read(service, id)).toMatchObject({ status: 'running', workerId: 'w' });
});
