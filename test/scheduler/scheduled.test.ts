import { describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { makeDue } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// Jobs that become claimable later.

const service = withService();

interface Event {
  type: string;
  data: unknown;
  createdAt: string;
}
const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const call = (id: string, verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const poll = async (spaceId: string, fields = {}): Promise<string[]> => {
  const { body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { count: 50, ...fields } });
  return body.jobs.map(({ id }: { id: string }) => id);
};
const typesOf = ({ events }: { events: Event[] }) => events.map(({ type }) => type);
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

/** Wait until a job is pending, and return it. */
async function readReady(id: string) {
  await until(async () => (await read(id)).status === 'pending');
  return read(id);
}

describe('a scheduled job', () => {
  const WAYS: [title: string, fields: () => Record<string, unknown>][] = [
    ['a delay', () => ({ delaySeconds: 0.8 })],
    ['a time', () => ({ scheduledFor: inSeconds(0.8) })],
  ];
  it.concurrent.each(WAYS)('a scheduled job becomes claimable after %s, and never earlier', async (_, fields) => {
    const jobs = await Promise.all(Array.from({ length: 8 }, () => createJob(service, 'sched-ready', fields())));
    for (const created of jobs) {
      expect(created).toMatchObject({ status: 'scheduled', attemptNumber: 0, deliveredAt: null });
      const { scheduledFor, events, ...job } = await readReady(created.id);
      expect(typesOf({ events })).toEqual(['created', 'ready']);
      expect(events[1].data).toBeNull();
      expect(Date.parse(events[1].createdAt)).toBeGreaterThan(Date.parse(scheduledFor));
      expect(job).toMatchObject({ status: 'pending', updatedAt: events[1].createdAt });
    }
  });

  it('a poll or a claim does not deliver a scheduled job, and the claim shows its status', async () => {
    const { id } = await createJob(service, 'sched-later', { delaySeconds: 3_600 });
    expect(await poll('sched-later')).toEqual([]);
    const { status, body } = await call(id, 'claim');
    expect({ status, body }).toEqual({
      status: 200,
      body: { claimed: false, reason: 'not_pending', status: 'scheduled' },
    });
  });

  it('the statistics count scheduled jobs apart from pending ones, and only if there are any', async () => {
    const counts = async () => (await service.call('GET', '/spaces/sched-counted-later/stats')).body;
    await createJob(service, 'sched-counted-later');
    expect((await counts()).jobs).toEqual({
      pending: 1,
      delivered: 0,
      running: 0,
      completed: 0,
      dead: 0,
      killed: 0,
      total: 1,
    });
    const { id } = await createJob(service, 'sched-counted-later', { delaySeconds: 3_600 });
    expect(await counts()).toMatchObject({
      jobs: { scheduled: 1, pending: 1, total: 2 },
      names: [{ total: 2, pending: 1 }],
    });
    const listed = await service.call('GET', '/spaces/sched-counted-later/jobs?status=scheduled');
    expect(listed.body).toMatchObject([{ id, status: 'scheduled', scheduledFor: expect.any(String) }]);
  });

  it('a scheduled job is put at the end of the queue at its time', async () => {
    const { id: late } = await createJob(service, 'sched-order', { delaySeconds: 0.3 });
    const { id: early } = await createJob(service, 'sched-order');
    await readReady(late);
    expect(await poll('sched-order')).toEqual([early, late]);
    const listed = await service.call('GET', '/spaces/sched-order/jobs');
    expect(listed.body.map((job: { id: string }) => job.id)).toEqual([early, late]); // newest first, by creation
  });

  it('a scheduled job that is killed never becomes claimable', async () => {
    const { id } = await createJob(service, 'sched-killed', { delaySeconds: 0.2 });
    expect((await call(id, 'kill', { reason: 'no' })).body).toEqual({ success: true });
    const marker = await createJob(service, 'sched-killed', { delaySeconds: 0.2 });
    await readReady(marker.id);
    expect(typesOf(await read(id))).toEqual(['created', 'killed']);
  });

  it.each([
    ['a delay of 0', { delaySeconds: 0 }],
    ['a time in the past', { scheduledFor: '2020-01-01T00:00:00+01:00' }],
    ['null for both', { scheduledFor: null, delaySeconds: null }],
  ])('a created job is immediately pending with %s', async (_, fields) => {
    const job = await createJob(service, 'sched-now', fields);
    expect(job).toMatchObject({ status: 'pending' });
    expect(job).not.toHaveProperty('scheduledFor');
    expect(typesOf(await read(job.id))).toEqual(['created']);
  });

  it('a repeated create returns the current state of a scheduled job', async () => {
    const headers = { 'idempotency-key': 'later' };
    const body = { name: 'work', delaySeconds: 3_600 };
    const create = () => service.call('POST', '/spaces/sched-again/jobs', { body, headers });
    const first = await create();
    expect((await create()).body).toEqual(first.body);
    await call(first.body.id, 'reschedule', { delaySeconds: 0, priority: 9 });
    const { status, headers: shown, body: now } = await create();
    expect({ status, replayed: shown['idempotent-replayed'] }).toEqual({ status: 201, replayed: 'true' });
    expect(now).toMatchObject({ id: first.body.id, status: 'pending', priority: 9 });
  });
});

it.each(['scheduled', 'pending'] as const)('a reschedule sets a new time for a %s job', async (from) => {
  const id = await jobIn(service, from, 'sched-another-time');
  const scheduledFor = inSeconds(7_200);
  expect((await call(id, 'reschedule', { scheduledFor })).body).toEqual({ success: true });
  const job = await read(id);
  expect(job).toMatchObject({ status: 'scheduled', scheduledFor });
  expect(job.events.at(-1)).toMatchObject({ type: 'rescheduled', data: { scheduledFor } });
  expect(await poll('sched-another-time')).toEqual([]);
});

it('a reschedule brings a scheduled job forward, and the job is claimable at the new time', async () => {
  const { id } = await createJob(service, 'sched-forward', { delaySeconds: 3_600 });
  await call(id, 'reschedule', { delaySeconds: 0.2 });
  expect(typesOf(await readReady(id))).toEqual(['created', 'rescheduled', 'ready']);
});

it('a reschedule to now removes the scheduled time of a job', async () => {
  const { id } = await createJob(service, 'sched-forgets', { delaySeconds: 3_600 });
  await call(id, 'reschedule', { delaySeconds: 0 });
  expect(await read(id)).not.toHaveProperty('scheduledFor');
});

it('a reschedule with a delay of 0 puts a job at the end of the queue, with its new head start', async () => {
  const ids: string[] = [];
  for (const n of [0, 1, 2]) ids.push((await createJob(service, 'sched-end', { payload: { n } })).id);
  const [first = '', second = '', third = ''] = ids;
  await call(first, 'reschedule', { delaySeconds: 0 });
  await call(third, 'reschedule', { delaySeconds: 0, priority: 60 });
  expect((await read(third)).events.at(-1).data).toEqual({ scheduledFor: null, priority: 60 });
  expect(await read(third)).not.toHaveProperty('scheduledFor');
  expect(await poll('sched-end')).toEqual([third, second, first]);
});

describe('a unique key', () => {
  const unique = { key: 'one', onConflict: 'replace' };
  const create = async (spaceId: string, fields: object) =>
    (await service.call('POST', `/spaces/${spaceId}/jobs`, { body: { name: 'work', unique, ...fields } })).body;

  it('a scheduled job holds its unique key, and a replacing create changes its request and time in place', async () => {
    const first = await create('sched-unique', { delaySeconds: 3_600, payload: { n: 1 }, priority: 5 });
    const scheduledFor = inSeconds(7_200);
    const second = await create('sched-unique', { scheduledFor, payload: { n: 2 } });
    expect(second).toMatchObject({ id: first.id, status: 'scheduled', scheduledFor, payload: { n: 2 } });
    expect(second).not.toHaveProperty('priority');
    const { events } = await read(first.id);
    expect(events.at(-1)).toMatchObject({ type: 'replaced', data: { scheduledFor } });
  });

  it('a replacing create makes a scheduled job pending at the end of the queue, and a pending one scheduled', async () => {
    const { id } = await create('sched-both', { delaySeconds: 3_600 });
    const { id: other } = await createJob(service, 'sched-both');
    expect(await create('sched-both', {})).toMatchObject({ id, status: 'pending' });
    expect((await read(id)).events.at(-1)).toMatchObject({ type: 'replaced', data: null });
    expect((await create('sched-both', { delaySeconds: 3_600 })).status).toBe('scheduled');
    expect(await poll('sched-both')).toEqual([other]);
  });
});

const create = async (spaceId: string, fields = {}) => (await createJob(service, spaceId, fields)).id;

it('a priority of n makes a job count as n seconds older, across all names', async () => {
  const ids: Record<string, string> = {};
  for (const [n, priority] of [0, -1, 600, 599, 0].entries()) {
    ids[n] = await create('prio-head-start', { priority, name: n % 2 === 0 ? 'even' : 'odd' });
  }
  expect(await read(ids[2] as string)).toMatchObject({ priority: 600 });
  expect(await read(ids[0] as string)).not.toHaveProperty('priority');
  expect(await poll('prio-head-start', { types: ['odd', 'even'] })).toEqual([2, 3, 0, 4, 1].map((n) => ids[n]));
});

it('a priority does not put a job before one that has waited longer than the head start', async () => {
  const old = await create('prio-ages');
  await until(async () => Date.now() - Date.parse((await read(old)).createdAt) > 1_200);
  const young = await create('prio-ages', { priority: 1 });
  const urgent = await create('prio-ages', { priority: 60 });
  expect(await poll('prio-ages')).toEqual([urgent, old, young]);
});

it.each<[event: string, happens: (id: string) => Promise<unknown>]>([
  ['a retry', async (id) => [await call(id, 'ack'), await call(id, 'fail', { error: 'no' })]],
  ['a release', (id) => call(id, 'release')],
  ['a delivery timeout', (id) => makeDue(service, id)],
  ['its new time', (id) => call(id, 'release', { delaySeconds: 0.1 })],
])('a job keeps its priority after %s', async (event, happens) => {
  const space = `prio-kept-after-${event.replaceAll(' ', '-')}`;
  const urgent = await jobIn(service, 'delivered', space, { priority: 600 });
  const other = await create(space);
  await happens(urgent);
  await until(async () => (await read(urgent)).status === 'pending');
  expect(await poll(space)).toEqual([urgent, other]);
});

it('a create that replaces a job changes its priority and keeps its place by creation', async () => {
  const unique = { key: 'one', onConflict: 'replace' };
  const first = await create('prio-replaced', { unique, priority: 600 });
  const second = await create('prio-replaced', { priority: 300 });
  const third = await create('prio-replaced');
  const { body } = await service.call('POST', '/spaces/prio-replaced/jobs', { body: { name: 'work', unique } });
  expect(body).toMatchObject({ id: first, status: 'pending' });
  expect(await poll('prio-replaced')).toEqual([second, first, third]);
});

it('the age of the oldest pending job does not include its priority', async () => {
  await create('prio-age', { priority: 604_800 });
  const { body } = await service.call('GET', '/spaces/prio-age/stats');
  expect(body.oldestPendingAgeSeconds).toBeLessThan(600_000);
  expect(body.names[0].oldestPendingAgeSeconds).toBeLessThan(600_000);
});
