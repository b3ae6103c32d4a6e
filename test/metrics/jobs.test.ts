import { describe, expect, it } from '@jest/globals';
import { TRANSITIONS, type Trigger } from '@yardmaster/protocol';
import { redisNow } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { expectMoved, movedBy, scrape } from './scrape.js';

const service = withService();

const MOVES = 'yardmaster_job_transitions_total';
const series = (from: string, to: string) => `${MOVES}{from="${from}",to="${to}"}`;

const UNIQUE = { key: 'one' };

/** The call that is each trigger, by the id of a job. */
const CALLS: Record<
  Exclude<Trigger, 'delivery_timeout' | 'execution_timeout' | 'start_timeout' | 'due'>,
  (id: string) => [string, unknown?]
> = {
  poll: () => ['/spaces/moves/jobs/poll', { count: 50 }],
  claim: (id) => [`/jobs/${id}/claim`],
  ack: (id) => [`/jobs/${id}/ack`],
  progress: (id) => [`/jobs/${id}/progress`, { percent: 1, message: 'x' }],
  checkpoint: (id) => [`/jobs/${id}/checkpoint`, {}],
  event: (id) => [`/jobs/${id}/event`, {}],
  keepalive: (id) => [`/jobs/${id}/keepalive`],
  complete: (id) => [`/jobs/${id}/complete`, {}],
  fail: (id) => [`/jobs/${id}/fail`, { error: 'x' }],
  release: (id) => [`/jobs/${id}/release`],
  kill: (id) => [`/jobs/${id}/kill`, {}],
  reschedule: (id) => [`/jobs/${id}/reschedule`, { delaySeconds: 0 }],
  replace: () => ['/spaces/moves/jobs', { name: 'work', unique: { ...UNIQUE, onConflict: 'replace' } }],
};
const isCall = (trigger: Trigger): trigger is keyof typeof CALLS => Object.hasOwn(CALLS, trigger);

/** Return the fields of a job for which a row of the table applies. */
const fieldsFor = (when: string, trigger: Trigger) => ({
  ...(when === 'no retries remain' && { maxRetries: 0 }),
  ...(trigger === 'replace' && { unique: UNIQUE }),
});

/** Set the delivery time-outs of a job so that the next one makes it dead. */
const spendDeliveries = (id: string) => service.redis.hset(service.store.keys.job(id), 'deliveryTimeouts', 99);

/** Move a job's deadline to the past, and wait for the sweep that finds it. */
async function timeOut(id: string, at = 1): Promise<void> {
  const statusOf = async () => (await service.call('GET', `/jobs/${id}`)).body.status as string | undefined;
  const before = await statusOf();
  await service.redis.zadd(service.store.keys.deadlines(id.slice(0, 2)), at, id);
  await until(async () => (await statusOf()) !== before);
}

describe('every row of the transition table', () => {
  const rows = TRANSITIONS.flatMap((row) => row.from.map((from) => ({ ...row, from, when: row.when ?? 'always' })));

  it.each(rows)('counts one move by $trigger from $from to $to ($when)', async ({ trigger, from, to, when }) => {
    const id = await jobIn(service, from, 'moves', fieldsFor(when, trigger));
    if (when === 'no deliveries remain') await spendDeliveries(id);
    const call = async ([path, body]: [string, unknown?]) =>
      expect((await service.call('POST', path, { body })).status).toBe(200);
    const act = () => (isCall(trigger) ? call(CALLS[trigger](id)) : timeOut(id));
    await expectMoved(service, MOVES, act, from === to ? {} : { [series(from, to)]: 1 });
    await service.call('POST', `/jobs/${id}/kill`); // So that the next row does not poll it.
  });
});

it('counts a create as a move only if it made a job', async () => {
  const create = (headers: Record<string, string>, unique?: object) =>
    service.call('POST', '/spaces/repeated/jobs', { headers, body: { name: 'work', unique } });
  const key = { 'idempotency-key': 'k' };
  await expectMoved(service, MOVES, () => create(key, UNIQUE), { [series('none', 'pending')]: 1 });
  await expectMoved(service, MOVES, () => create(key, UNIQUE), {});
  await expectMoved(service, MOVES, () => create({}, UNIQUE), {});
  await expectMoved(service, MOVES, () => create({}, { ...UNIQUE, onConflict: 'reject' }), {});
});

it('counts a created job as moved from none, and a purged job as moved to none', async () => {
  await expectMoved(service, MOVES, () => createJob(service, 'created'), { [series('none', 'pending')]: 1 });
  for (const status of ['completed', 'dead', 'killed'] as const) {
    const id = await jobIn(service, status, 'purged');
    await expectMoved(service, MOVES, () => timeOut(id), { [series(status, 'none')]: 1 });
  }
});

it('counts no move for calls that are refused', async () => {
  const ids = [await jobIn(service, 'pending', 'refused'), await jobIn(service, 'completed', 'refused')];
  const moved = await movedBy(service, MOVES, async () => {
    for (const path of ids.flatMap((id) => ['ack', 'complete', 'keepalive'].map((verb) => `/jobs/${id}/${verb}`)))
      expect((await service.call('POST', path)).status).toBe(409);
    expect((await service.call('POST', '/spaces/refused/jobs', { body: {} })).status).toBe(400);
  });
  expect(moved).toEqual({});
});

it('counts redeliveries, and observes how late deadlines are handled', async () => {
  const id = await jobIn(service, 'delivered', 'late');
  const metrics = ['yardmaster_jobs_redelivered_total', 'yardmaster_deadline_lag_seconds'];
  const before = await scrape(service);
  const at = (await redisNow(service.store)) - 100_000;
  await expectMoved(service, metrics, () => timeOut(id, at), {
    yardmaster_jobs_redelivered_total: 1,
    yardmaster_deadline_lag_seconds_count: 1,
  });
  const after = await scrape(service);
  const inBucket = (le: number) => {
    const bucket = `yardmaster_deadline_lag_seconds_bucket{le="${le}"}`;
    return (after.get(bucket) ?? 0) - (before.get(bucket) ?? 0);
  };
  expect([inBucket(60), inBucket(300)]).toEqual([0, 1]);
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
it('counts jobs claimed by poll and by claim, and polls that find none', async () => {
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
