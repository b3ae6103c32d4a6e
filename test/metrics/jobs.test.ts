import { describe, expect, it } from '@jest/globals';
import { type Status, TRANSITIONS, type Trigger } from '@yardmaster/protocol';
import { redisNow } from '@yardmaster/store';
import { callOf } from '../api/endpoints.js';
import { addFlag, tokenOf } from '../support/job-state.js';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { expectMoved, movedBy, scrape } from './scrape.js';

const service = withService();

const MOVES = 'yardmaster_job_transitions_total';
const series = (from: string, to: string) => `${MOVES}{from="${from}",to="${to}"}`;

const UNIQUE = { key: 'one' };

const DELAY = { delaySeconds: 3_600 };

/** Return the path and the body of the call that is a trigger; null for a trigger that is no call. */
function callFor(trigger: Trigger, id: string, when: string): [path: string, body?: unknown] | null {
  const delay = when === 'with a delay' ? DELAY : {};
  const create = { name: 'work', ...delay, unique: { ...UNIQUE, onConflict: 'replace' } };
  if (trigger === 'replace') return ['/spaces/moves/jobs', create];
  if (trigger === 'poll') return ['/spaces/moves/jobs/poll', { count: 50 }];
  const endpoint = callOf(trigger);
  if (endpoint === undefined) return null;
  const mayDelay = TRANSITIONS.some((row) => row.trigger === trigger && row.when === 'with a delay');
  const body = mayDelay ? { ...(endpoint.body as object), delaySeconds: 0, ...delay } : endpoint.body;
  return [`/jobs/${id}/${trigger}`, body];
}

/** Return the fields of a job for which a row of the table applies. */
const fieldsFor = (when: string, trigger: Trigger) => ({
  ...(when === 'no retries remain' && { maxRetries: 0 }),
  ...(when === 'retries remain, with a delay' && { retry: DELAY }),
  ...((when === 'no time is left to start' || trigger === 'start_timeout') && { startWithinSeconds: 3_600 }),
  ...(trigger === 'replace' && { unique: UNIQUE }),
});

/** Create a job for which a row of the table applies. */
async function jobFor(from: Status, when: string, trigger: Trigger): Promise<string> {
  const fields = fieldsFor(when, trigger);
  // Only a job that could be claimed before has a time to start while it is scheduled.
  const isReleased = trigger === 'start_timeout' && from === 'scheduled';
  const id = await jobIn(service, isReleased ? 'delivered' : from, 'moves', fields);
  if (isReleased) await step(service, id, 'release', DELAY);
  if (when === 'no deliveries remain') await spendDeliveries(id);
  if (when === 'no time is left to start') await endTimeToStart(id);
  return id;
}

const setField = (id: string, field: string, value: number) =>
  service.redis.hset(service.store.keys.job(id), field, value);

/** Set the delivery timeouts of a job so that the next one makes it dead. */
const spendDeliveries = async (id: string) => {
  await setField(id, 'deliveryTimeouts', 99);
  await addFlag(service.redis, service.store.keys.job(id), 'd');
};

const endTimeToStart = async (id: string) => setField(id, 'startBy', (await redisNow(service.store)) - 1);

/** Move the time at which a sweep must act on a job to the past, and wait for the sweep that does. */
async function timeout(id: string, at = 1): Promise<void> {
  const { redis, store } = service;
  const statusOf = async () => (await service.call('GET', `/jobs/${id}`)).body.status as string | undefined;
  const before = await statusOf();
  for (const key of [store.keys.due, store.keys.deadlines]) await redis.zadd(key(id.slice(0, 2)), 'XX', at, id);
  await until(async () => (await statusOf()) !== before);
}

/** Let the time of a trigger pass, which may also be in the record of the job. */
async function letPass(trigger: Trigger, id: string): Promise<void> {
  if (trigger === 'due') await setField(id, 'scheduledFor', 1);
  if (trigger === 'start_timeout') await endTimeToStart(id);
  await timeout(id);
}

describe('every row of the transition table', () => {
  const rows = TRANSITIONS.flatMap((row) => row.from.map((from) => ({ ...row, from, when: row.when ?? 'always' })));

  it.each(rows)('counts one move by $trigger from $from to $to ($when)', async ({ trigger, from, to, when }) => {
    const id = await jobFor(from, when, trigger);
    const call = callFor(trigger, id, when);
    const act = async () => {
      if (call === null) return letPass(trigger, id);
      const [path, body] = call;
      expect((await service.call('POST', path, { body })).status).toBe(200);
    };
    await expectMoved(service, MOVES, act, from === to ? {} : { [series(from, to)]: 1 });
    await service.call('POST', `/jobs/${id}/kill`); // So that the next row does not poll it.
  });
});

it('counts a create as a move only if it created a job', async () => {
  const create = (headers: Record<string, string>, unique?: object) =>
    service.call('POST', '/spaces/repeated/jobs', { headers, body: { name: 'work', unique } });
  const key = { 'idempotency-key': 'k' };
  await expectMoved(service, MOVES, () => create(key, UNIQUE), { [series('none', 'pending')]: 1 });
  await expectMoved(service, MOVES, () => create(key, UNIQUE), {});
  await expectMoved(service, MOVES, () => create({}, UNIQUE), {});
  await expectMoved(service, MOVES, () => create({}, { ...UNIQUE, onConflict: 'reject' }), {});
});

it('counts a created job as a move from none, and a purged job as a move to none', async () => {
  await expectMoved(service, MOVES, () => createJob(service, 'created'), { [series('none', 'pending')]: 1 });
  await expectMoved(service, MOVES, () => createJob(service, 'created', DELAY), { [series('none', 'scheduled')]: 1 });
  for (const status of ['completed', 'dead', 'killed'] as const) {
    const id = await jobIn(service, status, 'purged');
    await expectMoved(service, MOVES, () => timeout(id), { [series(status, 'none')]: 1 });
  }
});

it('counts no move for refused calls', async () => {
  const ids = [await jobIn(service, 'pending', 'refused'), await jobIn(service, 'completed', 'refused')];
  const moved = await movedBy(service, MOVES, async () => {
    for (const path of ids.flatMap((id) => ['ack', 'complete', 'keepalive'].map((verb) => `/jobs/${id}/${verb}`)))
      expect((await service.call('POST', path)).status).toBe(409);
    expect((await service.call('POST', '/spaces/refused/jobs', { body: {} })).status).toBe(400);
  });
  expect(moved).toEqual({});
});

const LATENESS: [what: string, status: Status, metric: string][] = [
  ['deadlines are handled', 'delivered', 'yardmaster_deadline_lag_seconds'],
  ['scheduled jobs become pending', 'scheduled', 'yardmaster_promotion_lag_seconds'],
];

it.each(LATENESS)('observes how late %s, and counts only redeliveries', async (_, status, metric) => {
  const id = await jobIn(service, status, 'late');
  const redelivered = 'yardmaster_jobs_redelivered_total';
  const before = await scrape(service);
  const at = (await redisNow(service.store)) - 100_000;
  if (status === 'scheduled') await setField(id, 'scheduledFor', at);
  await expectMoved(service, [redelivered, metric], () => timeout(id, at), {
    ...(status === 'delivered' && { [redelivered]: 1 }),
    [`${metric}_count`]: 1,
  });
  const after = await scrape(service);
  const inBucket = (le: number) => {
    const bucket = `${metric}_bucket{le="${le}"}`;
    return (after.get(bucket) ?? 0) - (before.get(bucket) ?? 0);
  };
  expect([inBucket(60), inBucket(300)]).toEqual([0, 1]);
});

it.each([{}, DELAY])('counts a job that a worker releases with %j as released', async (body) => {
  const id = await jobIn(service, 'running', 'released');
  const metric = 'yardmaster_jobs_released_total';
  await expectMoved(service, metric, () => step(service, id, 'release', body), { [metric]: 1 });
});

it('counts log entries, but not those of refused batches', async () => {
  const { id } = await createJob(service, 'logged');
  const metrics = ['yardmaster_log_entries_total', 'yardmaster_logs_refused_total'];
  const appendBoth = async () => {
    await service.call('POST', `/jobs/${id}/logs`, { body: ['a', 'b', { message: 'c' }] });
    await service.call('POST', `/jobs/${id}/logs`, { body: [] });
  };
  await expectMoved(service, metrics, appendBoth, { yardmaster_log_entries_total: 3 });
});

// The last test, because its jobs are redelivered after 30 s.
it('counts jobs claimed by poll and by claim, and empty polls', async () => {
  const metrics = ['yardmaster_jobs_claimed_total', 'yardmaster_polls_total'];
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await createJob(service, 'claimed')).id);
  const moved = await movedBy(service, metrics, async () => {
    await service.call('POST', `/jobs/${ids[0]}/claim`);
    await service.call('POST', `/jobs/${ids[0]}/claim`);
    await service.call('POST', '/spaces/claimed/jobs/poll', { body: { count: 10 } });
    await service.call('POST', '/spaces/claimed/jobs/poll');
    await service.call('POST', '/spaces/claimed/jobs/poll');
  });
  expect(moved).toEqual({
    'yardmaster_jobs_claimed_total{by="claim"}': 1,
    'yardmaster_jobs_claimed_total{by="poll"}': 2,
    'yardmaster_polls_total{outcome="claimed"}': 1,
    'yardmaster_polls_total{outcome="empty"}': 2,
  });
});

it('counts calls without a delivery token that take effect in a later attempt', async () => {
  const id = await jobIn(service, 'running', 'unfenced');
  for (const verb of ['fail', 'claim', 'ack'])
    await step(service, id, verb, verb === 'fail' ? { error: 'no' } : undefined);
  const unfenced = async () => (await scrape(service)).get('yardmaster_unfenced_calls_total') as number;
  const before = await unfenced();
  const headers = { 'x-delivery-token': await tokenOf(service.redis, service.store.keys.job(id), '1.0') };
  expect((await service.call('POST', `/jobs/${id}/keepalive`, { headers })).status).toBe(200);
  expect((await service.call('POST', `/jobs/${id}/ack`)).status).toBe(409); // Refused, so it has no effect.
  expect(await unfenced()).toBe(before);
  for (const verb of ['keepalive', 'checkpoint', 'complete']) await step(service, id, verb, {});
  expect(await unfenced()).toBe(before + 3);
});
