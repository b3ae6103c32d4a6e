import { expect, it } from '@jest/globals';
import { STATUSES, type Status } from '@yardmaster/protocol';
import { ANY_SPACE, expireDue, getJob, partitionOf, promoteDue, redisNow } from '@yardmaster/store';
import { createJob, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { check } from './checking.js';

// No scheduler: the steps below do what it would do.
const service = withService({}, { app: 'api', isOwn: true });
const PARTITION = partitionOf('sound');

type Step = (id: string) => Promise<unknown>;
const call =
  (verb: string, body: object = {}): Step =>
  (id) =>
    step(service, id, verb, body);
const claim = call('claim');
const run: Step[] = [claim, call('ack')];
const fail = (fields = {}) => call('fail', { error: { scheduledFor: '2030-01-01T00:00:00.000Z' }, ...fields });

/** Sweep the jobs that wait, until this one has another status. */
const promoted: Step = async (id) => {
  const { store } = service;
  const { status } = await getJob(store, ANY_SPACE, id);
  await until(async () => {
    await promoteDue(store, PARTITION, await redisNow(store));
    return (await getJob(store, ANY_SPACE, id)).status !== status;
  });
};
/** Sweep a delivered or running job as if its window were over. */
const timedOut: Step = async (id) => {
  const { redis, store } = service;
  await redis.zadd(store.keys.deadlines(PARTITION), 'XX', 1, id);
  await expireDue(store, PARTITION, await redisNow(store));
};
/** Let the time to start be over for a delivered job. */
const outOfTime: Step = async (id) => {
  const { redis, store } = service;
  await redis.hset(store.keys.job(id), 'startBy', 1);
  await redis.zrem(store.keys.due(PARTITION), id);
};
const replaced =
  (fields: object): Step =>
  async () => {
    const body = { name: 'work', unique: { key: 'k', onConflict: 'replace' }, ...fields };
    expect((await service.call('POST', '/spaces/sound/jobs', { body })).status).toBe(200);
  };

const RETRY = { delaySeconds: [0.5, 60], jitter: 0, maxDelaySeconds: 1.5 };
const EVERYTHING = {
  retry: { delaySeconds: 5, factor: 2.5 },
  maxRunSeconds: 0.5,
  startWithinSeconds: 3_600,
  priority: 600,
  callbackUrl: 'https://example.com/hook',
  callbackOn: ['dead', 'killed'],
  tags: ['eu', 'say "ü"/'],
};
const KEYED = { ...EVERYTHING, unique: { key: 'k' } };
const SHORT = { ...EVERYTHING, startWithinSeconds: 0.001 };
const LATER = { delaySeconds: 3_600 };

it.each<[title: string, status: Status, fields: Record<string, unknown>, steps: Step[]]>([
  ['scheduled at its creation', 'scheduled', { ...EVERYTHING, ...LATER }, []],
  ['scheduled for years', 'scheduled', { ...EVERYTHING, scheduledFor: '9999-12-31T23:59:59.999Z' }, []],
  ['scheduled by its retry policy', 'scheduled', { ...EVERYTHING, retry: RETRY }, [...run, fail()]],
  ['scheduled by the timeout of an attempt', 'scheduled', EVERYTHING, [...run, timedOut]],
  ['scheduled by its worker', 'scheduled', EVERYTHING, [...run, fail({ retryAfterSeconds: 60 })]],
  ['scheduled by a release before its ack', 'scheduled', EVERYTHING, [claim, call('release', LATER)]],
  ['scheduled for after its time to start', 'scheduled', EVERYTHING, [claim, call('release', { delaySeconds: 9_000 })]],
  ['scheduled by a release of its attempt', 'scheduled', EVERYTHING, [...run, call('release', LATER)]],
  ['rescheduled while pending', 'scheduled', EVERYTHING, [call('reschedule', { ...LATER, priority: -5 })]],
  ['scheduled by a replacement', 'scheduled', KEYED, [replaced({ ...LATER, retry: { delaySeconds: 0 } })]],
  ['pending with all options', 'pending', EVERYTHING, []],
  ['pending behind others', 'pending', { priority: -604_800 }, []],
  ['ready', 'pending', { ...EVERYTHING, delaySeconds: 0.001 }, [promoted]],
  ['ready for its retry', 'pending', EVERYTHING, [...run, fail({ retryAfterSeconds: 0.001 }), promoted]],
  ['rescheduled to now', 'pending', EVERYTHING, [call('reschedule', { delaySeconds: 0 })]],
  ['rescheduled with another priority', 'pending', EVERYTHING, [call('reschedule', { delaySeconds: 0, priority: 7 })]],
  ['rescheduled without priority', 'pending', EVERYTHING, [call('reschedule', { delaySeconds: 0, priority: 0 })]],
  ['no longer scheduled', 'pending', { ...EVERYTHING, ...LATER }, [call('reschedule', { delaySeconds: 0 })]],
  ['retried at once', 'pending', { ...EVERYTHING, retry: null }, [...run, fail()]],
  ['taken back', 'pending', EVERYTHING, [claim, timedOut]],
  ['taken back after it was ready', 'pending', { ...EVERYTHING, delaySeconds: 0.001 }, [promoted, claim, timedOut]],
  ['released', 'pending', EVERYTHING, [...run, call('release')]],
  ['replaced at its place', 'pending', KEYED, [call('reschedule', { delaySeconds: 0 }), replaced({ priority: 9 })]],
  ['replaced and claimable again', 'pending', { ...KEYED, ...LATER }, [replaced(EVERYTHING)]],
  ['requeued after it was dead', 'pending', EVERYTHING, [...run, fail({ retryable: false }), call('requeue')]],
  ['requeued after it was killed', 'pending', KEYED, [claim, call('kill'), call('requeue')]],
  ['requeued for later', 'scheduled', KEYED, [call('kill'), call('requeue', LATER)]],
  ['requeued after its time to start', 'pending', EVERYTHING, [claim, outOfTime, timedOut, call('requeue')]],
  ['a requeued one that ran', 'running', KEYED, [...run, call('kill'), call('requeue'), ...run]],
  ['delivered', 'delivered', EVERYTHING, [claim]],
  ['delivered past its time to start', 'delivered', EVERYTHING, [claim, outOfTime]],
  ['running', 'running', EVERYTHING, run],
  ['running after a schedule', 'running', { ...EVERYTHING, delaySeconds: 0.001 }, [promoted, ...run]],
  ['running with a heartbeat', 'running', EVERYTHING, [...run, call('keepalive')]],
  ['completed', 'completed', EVERYTHING, [...run, call('complete', { result: 1 })]],
  ['completed with a callback', 'completed', { ...KEYED, callbackOn: ['completed'] }, [...run, call('complete')]],
  ['dead', 'dead', { ...EVERYTHING, maxRetries: 0 }, [...run, fail()]],
  ['dead although retries remain', 'dead', EVERYTHING, [...run, fail({ retryable: false })]],
  ['dead because it was not started', 'dead', SHORT, [promoted]],
  [
    'dead because it was not started after its schedule',
    'dead',
    { ...SHORT, delaySeconds: 0.001 },
    [promoted, promoted],
  ],
  ['dead because it was released too late', 'dead', EVERYTHING, [claim, outOfTime, call('release')]],
  ['dead because it was taken back too late', 'dead', EVERYTHING, [claim, outOfTime, timedOut]],
  ['killed', 'killed', EVERYTHING, [call('kill', { reason: 'enough' })]],
  ['killed while it was scheduled', 'killed', { ...EVERYTHING, ...LATER }, [call('kill')]],
  ['killed while it was delivered', 'killed', EVERYTHING, [claim, call('kill')]],
])('fsck finds no fault in a job that is %s', async (_, status, fields, steps) => {
  const { id } = await createJob(service, 'sound', fields);
  for (const each of steps) await each(id);
  expect((await getJob(service.store, ANY_SPACE, id)).status).toBe(status);
  expect((await check(service.store)).short).toEqual([]);
  // The next jobs need its unique key, and sweeps must not find it.
  if (!['completed', 'dead', 'killed'].includes(status)) await step(service, id, 'kill', {});
});

it('fsck finds no fault in an installation with jobs in each status', async () => {
  const steps: Record<Status, Step[]> = {
    scheduled: [call('reschedule', LATER)],
    pending: [],
    delivered: [claim],
    running: run,
    completed: [...run, call('complete', { result: 1 })],
    dead: [...run, fail({ retryable: false })],
    killed: [call('kill')],
  };
  for (const status of STATUSES) {
    const { id } = await createJob(service, 'sound', EVERYTHING);
    for (const each of steps[status]) await each(id);
  }
  const { jobs } = (await service.call('GET', '/spaces/sound/stats')).body;
  expect(STATUSES.filter((status) => jobs[status] > 0)).toEqual([...STATUSES]);
  expect((await check(service.store)).short).toEqual([]);
});
