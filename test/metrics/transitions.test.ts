import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Status, TRANSITIONS, type Trigger } from '@yardmaster/protocol';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { movedBy, movedByScheduler, scrape } from './scrape.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ DELIVERY_TIMEOUT_SECONDS: '600' });
});
afterAll(() => service.stop());

const MOVES = 'yardmaster_job_transitions_total';
const series = (from: string, to: string) => `${MOVES}{from="${from}",to="${to}"}`;

/** How callers pull triggers, given the job. */
const CALLS: Record<Exclude<Trigger, 'delivery_timeout' | 'execution_timeout'>, (id: string) => [string, unknown?]> = {
  poll: () => ['/spaces/moves/jobs/poll', { count: 50 }],
  claim: (id) => [`/jobs/${id}/claim`],
  ack: (id) => [`/jobs/${id}/ack`],
  progress: (id) => [`/jobs/${id}/progress`, { percent: 1, message: 'x' }],
  checkpoint: (id) => [`/jobs/${id}/checkpoint`, {}],
  event: (id) => [`/jobs/${id}/event`, {}],
  keepalive: (id) => [`/jobs/${id}/keepalive`],
  complete: (id) => [`/jobs/${id}/complete`, {}],
  fail: (id) => [`/jobs/${id}/fail`, { error: 'x' }],
  kill: (id) => [`/jobs/${id}/kill`, {}],
};
const isCall = (trigger: Trigger): trigger is keyof typeof CALLS => Object.hasOwn(CALLS, trigger);

/** Fields with which a row's outcome is the one it names. */
const fieldsFor = (when: string | undefined) => (when === 'no retries remain' ? { maxRetries: 0 } : {});

/** What time does: a job's deadline is moved to now, and the sweep waited for. */
async function timeOut(id: string): Promise<void> {
  await service.redis.zadd(service.store.keys.deadlines(id.slice(0, 2)), 'XX', 1, id);
  const statusOf = async () => (await service.call('GET', `/jobs/${id}`)).body.status as string | undefined;
  const before = await statusOf();
  await until(async () => (await statusOf()) !== before);
}

describe('every row of the transition table', () => {
  const rows = TRANSITIONS.flatMap((row) => row.from.map((from) => ({ ...row, from, when: row.when ?? 'always' })));

  it.each(rows)('$trigger counts a job moved from $from to $to ($when), once', async ({ trigger, from, to, when }) => {
    const id = await jobIn(service, from, 'moves', fieldsFor(when));
    const call = async ([path, body]: [string, unknown?]) =>
      expect((await service.call('POST', path, { body })).status).toBe(200);
    const moved = isCall(trigger)
      ? await movedBy(service, MOVES, () => call(CALLS[trigger](id)))
      : await movedByScheduler(service, MOVES, () => timeOut(id));
    expect(moved).toEqual(from === to ? {} : { [series(from, to)]: 1 });
    await service.call('POST', `/jobs/${id}/kill`); // Not to be polled by the next row.
  });
});

it('counts a creation from none, and a purge to none', async () => {
  expect(await movedBy(service, MOVES, () => createJob(service, 'born'))).toEqual({ [series('none', 'pending')]: 1 });
  for (const status of ['completed', 'dead', 'killed'] as const) {
    const id = await jobIn(service, status, 'purged');
    const moved = await movedByScheduler(service, MOVES, async () => {
      await service.redis.zadd(service.store.keys.deadlines(id.slice(0, 2)), 1, id);
      await until(async () => (await service.call('GET', `/jobs/${id}`)).status === 404);
    });
    expect(moved).toEqual({ [series(status, 'none')]: 1 });
  }
});

it('counts no move for what was refused', async () => {
  const ids = await Promise.all(
    (['pending', 'completed'] as Status[]).map((status) => jobIn(service, status, 'refused')),
  );
  const moved = await movedBy(service, MOVES, async () => {
    for (const id of ids) {
      for (const verb of ['ack', 'complete', 'keepalive']) {
        expect((await service.call('POST', `/jobs/${id}/${verb}`)).status).toBe(409);
      }
    }
    await service.call('POST', '/spaces/refused/jobs', { body: {} });
  });
  expect(moved).toEqual({});
});

it('counts jobs handed out by poll and by claim, and polls that found none', async () => {
  const metrics = ['yardmaster_jobs_claimed_total', 'yardmaster_polls_total'];
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await createJob(service, 'handed')).id);
  const moved = await movedBy(service, metrics, async () => {
    await service.call('POST', `/jobs/${ids[0]}/claim`);
    await service.call('POST', `/jobs/${ids[0]}/claim`);
    await service.call('POST', '/spaces/handed/jobs/poll', { body: { count: 10 } });
    await service.call('POST', '/spaces/handed/jobs/poll');
    await service.call('POST', '/spaces/handed/jobs/poll');
  });
  expect(moved).toEqual({
    'yardmaster_jobs_claimed_total{by="claim"}': 1,
    'yardmaster_jobs_claimed_total{by="poll"}': 2,
    'yardmaster_polls_total{outcome="claimed"}': 1,
    'yardmaster_polls_total{outcome="empty"}': 2,
  });
});

it('counts redeliveries, and how late deadlines were met', async () => {
  const id = await jobIn(service, 'delivered', 'late');
  const metrics = ['yardmaster_jobs_redelivered_total', 'yardmaster_deadline_lag_seconds'];
  const before = await scrape(service);
  const lateBy = 100; // seconds
  const moved = await movedByScheduler(service, metrics, async () => {
    const [seconds] = await service.redis.time();
    const at = (Number(seconds) - lateBy) * 1_000;
    await service.redis.zadd(service.store.keys.deadlines(id.slice(0, 2)), 'XX', at, id);
    await until(async () => (await service.call('GET', `/jobs/${id}`)).body.status === 'pending');
  });
  expect(moved).toEqual({ yardmaster_jobs_redelivered_total: 1, yardmaster_deadline_lag_seconds_count: 1 });
  const after = await scrape(service);
  const inBucket = (le: number) => {
    const bucket = `yardmaster_deadline_lag_seconds_bucket{le="${le}"}`;
    return (after.get(bucket) ?? 0) - (before.get(bucket) ?? 0);
  };
  expect([inBucket(60), inBucket(300)]).toEqual([0, 1]);
});

it('counts log entries, and not the batches that are refused as they are', async () => {
  const { id } = await createJob(service, 'logged');
  const metrics = ['yardmaster_log_entries_total', 'yardmaster_logs_refused_total'];
  const moved = await movedBy(service, metrics, async () => {
    await service.call('POST', `/jobs/${id}/logs`, { body: ['a', 'b', { message: 'c' }] });
    await service.call('POST', `/jobs/${id}/logs`, { body: [] });
  });
  expect(moved).toEqual({ yardmaster_log_entries_total: 3 });
});
