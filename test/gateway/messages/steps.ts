import { expect } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { addFlag, changeState, readState } from '../../support/job-state.js';
import { writeHistory } from '../../support/jobs.js';
import type { TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

/** Name of the job of every scenario. */
export const JOB_NAME = 'a "job" – näme 🚂';

export interface Job {
  id: string;
  spaceId: string;
}

/** An event of a job, and the message that streams send for it. */
export interface Step {
  type: string;
  /** Status of the job after the event. */
  status: string;
  data: unknown;
  /** Of a step after which the job is scheduled: how long after the event. The data has that time as `scheduledFor`. */
  delaySeconds?: number;
  /** Cause the event. Return its time when it is not in the history. */
  cause(job: Job, service: TestService): Promise<number | undefined>;
}

const call = (verb: string, body?: unknown) => async (job: Job, service: TestService) => {
  const response = await service.call('POST', `/jobs/${job.id}/${verb}`, { body });
  if (response.status !== 200) throw new Error(`${verb}: ${response.text}`);
  return undefined;
};

/** Store and publish an event as a script would, for types that no endpoint causes. */
export const announce =
  ({ type, status, data }: Pick<Step, 'type' | 'status' | 'data'>) =>
  async ({ id, spaceId }: Job, service: TestService) => {
    const { redis, store } = service;
    await writeHistory(service, id);
    const at = await redisNow(store);
    const entry = JSON.stringify(data === null ? [type, at] : [type, at, data]);
    const seq = 1 + (await redis.rpush(`${store.keys.job(id)}:events`, entry));
    await changeState(redis, store.keys.job(id), { seq, updatedAt: at }); // as each event does
    if (seq === 2) await addFlag(redis, store.keys.job(id), 'h');
    const message = JSON.stringify({ seq, jobId: id, jobName: JOB_NAME, spaceId, type, status, data, at });
    await redis.publish(store.keys.jobChannel(id), message);
    await redis.publish(store.keys.spaceChannel(spaceId), message);
    return undefined;
  };

/** Return a step that calls an endpoint of the job. */
export const step = (type: string, status: string, data: unknown, verb: string, body?: unknown): Step => ({
  type,
  status,
  data,
  cause: call(verb, body),
});

export const claim = step('delivered', 'delivered', null, 'claim');
export const poll: Step = {
  ...claim,
  async cause({ spaceId }, service) {
    const { body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`);
    expect(body.jobs).toHaveLength(1);
    return undefined;
  },
};
export const ack = step('acked', 'running', null, 'ack');
export const progress = (report: object) => step('progress', 'running', report, 'progress', report);
export const checkpoint = (data: unknown) => step('checkpoint', 'running', data, 'checkpoint', data);
export const event = (data: unknown) => step('event', 'running', data, 'event', data);
export const complete = (result: unknown) => step('completed', 'completed', result, 'complete', { result });
export const retry = (error: unknown, attemptNumber = 1) =>
  step('retried', 'pending', { error, attemptNumber }, 'fail', { error });
/** Return the step that makes a job dead, which must have `maxRetries: 0`. */
export const failForGood = (error: unknown) => step('dead', 'dead', { error }, 'fail', { error });
export const kill = (reason?: string) => step('killed', 'killed', { reason: reason ?? null }, 'kill', { reason });
export const logsAppended = (status: string): Step => ({
  type: 'logs_appended',
  status,
  data: { fromSeq: 1, toSeq: 3, count: 3 },
  async cause(job, service) {
    await call('logs', ['one', 'two', 'three'])(job, service);
    const { body } = await service.call('GET', `/jobs/${job.id}/logs`);
    return Date.parse(body.logs[0].createdAt);
  },
});
/** Delay of every job that is scheduled here. */
export const DELAY = { delaySeconds: 3_600 };

/** Return a step after which the job is scheduled instead of pending. */
export const delayed = (step: Step): Step => ({ ...step, status: 'scheduled', ...DELAY });
export const retryLater = (error: unknown, attemptNumber = 1) =>
  delayed(step('retried', '', { error, attemptNumber }, 'fail', { error, retryAfterSeconds: DELAY.delaySeconds }));
export const releaseLater = (reason?: string) =>
  delayed(step('released', '', { reason: reason ?? null }, 'release', { reason, ...DELAY }));
/** Reschedule the job, with another priority or with the one that it has. */
export const rescheduleLater = (other: { priority?: number } = {}) =>
  delayed(step('rescheduled', '', { scheduledFor: null, ...other }, 'reschedule', { ...other, ...DELAY }));
export const rescheduleTo = (scheduledFor: string) =>
  step('rescheduled', 'scheduled', { scheduledFor: new Date(scheduledFor).toISOString() }, 'reschedule', {
    scheduledFor,
  });
export const rescheduleNow = step('rescheduled', 'pending', { scheduledFor: null }, 'reschedule', { delaySeconds: 0 });

/** Time in the past, epoch milliseconds. */
const PAST = 1;

/** Move the time at which a sweep must act on a job to the past, and wait until its status shows that it has. */
async function letPass({ id }: Job, { redis, store }: TestService, status: string): Promise<undefined> {
  for (const key of [store.keys.due, store.keys.deadlines]) await redis.zadd(key(id.slice(0, 2)), 'XX', PAST, id);
  await until(async () => (await readState(redis, store.keys.job(id))).status === status);
}

/** Return a step that a sweep makes, after fields of the record are set. */
const bySweep = (type: string, status: string, data: unknown, fields: (now: number) => object = () => ({})): Step => ({
  type,
  status,
  data,
  async cause(job, service) {
    const set = fields(await redisNow(service.store));
    if (Object.keys(set).length > 0) await service.redis.hset(service.store.keys.job(job.id), set);
    return letPass(job, service, status);
  },
});

export const deliveryTimeout = bySweep('delivery_timeout', 'pending', null);
/** The time of a scheduled job comes. */
export const ready = bySweep('ready', 'pending', null, () => ({ scheduledFor: PAST }));
/** Return the step that ends an attempt of a job with this `maxRunSeconds`. */
export const runTooLong = (seconds: number) =>
  bySweep('retried', 'pending', { error: `Job ran longer than ${seconds} seconds`, attemptNumber: 1 }, () => ({
    runBy: PAST,
  }));

const startBy = (now: number) => ({ startBy: now - 1 });
const notStarted = (seconds: number) => ({ error: `Job was not started within ${seconds} seconds` });
/** Return the step that makes a job with this `startWithinSeconds` dead that has not started. */
export const startTooLate = (seconds: number) => bySweep('dead', 'dead', notStarted(seconds), startBy);
/** Return the same step, caused by the release of a delivered job. */
export const releaseTooLate = (seconds: number): Step => ({
  ...startTooLate(seconds),
  async cause(job, service) {
    await service.redis.hset(service.store.keys.job(job.id), startBy(await redisNow(service.store)));
    return call('release')(job, service);
  },
});

/** Return a replacement by a create with the unique key of the job, which the job gets just before. */
const replacement = (delay: object): Step => ({
  type: 'replaced',
  status: 'pending',
  data: null,
  async cause({ id, spaceId }, service) {
    const { redis, store } = service;
    await redis.hset(store.keys.job(id), 'unique', 'ended replace 0 k');
    await addFlag(redis, store.keys.job(id), 'u');
    await redis.hset(`${store.keys.spaceBase(spaceId)}unique`, `${Buffer.byteLength(JOB_NAME)}:${JOB_NAME}k`, id);
    const body = { name: JOB_NAME, unique: { key: 'k', onConflict: 'replace' }, ...delay };
    const response = await service.call('POST', `/spaces/${spaceId}/jobs`, { body });
    if (response.status !== 200) throw new Error(response.text);
    return undefined;
  },
});
export const replaced = replacement({});
export const replacedLater = delayed(replacement(DELAY));
/** Return a step for the outcome of a callback, which is in the history and on no stream. */
export const callbackOutcome = (type: string, fields: object): Step => {
  const data = { url: 'https://example.com/hook', attempt: 1, willRetry: false, ...fields };
  const outcome = { type, status: 'completed', data };
  return { ...outcome, cause: announce(outcome) };
};

/** Steps by which a new job comes to run. */
export const RUNNING = [claim, ack];
