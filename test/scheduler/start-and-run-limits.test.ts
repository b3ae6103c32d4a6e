import { expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { readJob } from '../support/callbacks.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withReceiver } from '../support/receiver.js';
import { makeDue } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// How long a job may wait for its first ack, and how long an attempt may run.

const receiver = withReceiver();
const service = withService();

const read = (id: string) => readJob(service, id);
const call = (id: string, verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const scoreIn = async (set: 'due' | 'deadlines', id: string) => {
  const score = await service.redis.zscore(service.store.keys[set](id.slice(0, 2)), id);
  return score === null ? null : Number(score);
};
const timeOf = (event: { createdAt: string } | undefined) => Date.parse(event?.createdAt as string);
const hasStatus = (id: string, status: string) => until(async () => (await read(id)).status === status);

const NOT_STARTED = 'Job was not started within 0.3 seconds';

it('startWithinSeconds ends a pending job that no worker has acked in time, and never earlier', async () => {
  const callbackUrl = receiver.script('/not-started');
  const fields = { startWithinSeconds: 0.3, callbackUrl };
  const ids = await Promise.all(
    Array.from({ length: 5 }, async () => (await createJob(service, 'limit-start', fields)).id),
  );
  for (const id of ids) {
    await hasStatus(id, 'dead');
    const { events, ...job } = await read(id);
    expect(job).toMatchObject({ error: NOT_STARTED, attemptNumber: 0, startWithinSeconds: 0.3 });
    expect(events.slice(0, 2)).toMatchObject([{ type: 'created' }, { type: 'dead', data: { error: NOT_STARTED } }]);
    expect(timeOf(events[1]) - timeOf(events[0])).toBeGreaterThan(300);
  }
  await until(() => receiver.requestsTo('/not-started').length === 5);
  const body = JSON.parse(String(receiver.requestsTo('/not-started')[0]?.body));
  expect(body).toMatchObject({ status: 'dead', result: { error: NOT_STARTED } });
  expect((await service.call('POST', '/spaces/limit-start/jobs/poll')).body.jobs).toEqual([]);
});

it('startWithinSeconds counts from the time at which a scheduled job becomes claimable', async () => {
  const { id } = await createJob(service, 'limit-start-later', { delaySeconds: 0.3, startWithinSeconds: 0.3 });
  await hasStatus(id, 'dead');
  const { events } = await read(id);
  expect(events).toMatchObject([{ type: 'created' }, { type: 'ready' }, { type: 'dead' }]);
  expect(timeOf(events[2]) - timeOf(events[1])).toBeGreaterThan(300);
});

it('startWithinSeconds no longer applies after the first ack, even for later attempts', async () => {
  const id = await jobIn(service, 'running', 'limit-started', { startWithinSeconds: 0.2 });
  expect(await scoreIn('due', id)).toBeNull();
  await call(id, 'release');
  expect(await scoreIn('due', id)).toBeNull();
  const marker = await createJob(service, 'limit-started', { startWithinSeconds: 0.3 });
  await hasStatus(marker.id, 'dead');
  expect((await read(id)).status).toBe('pending');
});

it.each<[way: string, returnJob: (id: string) => Promise<unknown>]>([
  ['its worker releases it', (id) => call(id, 'release', { delaySeconds: 60 })],
  ['its delivery times out', (id) => makeDue(service, id)],
])('startWithinSeconds ends a delivered job only when %s', async (_, returnJob) => {
  const id = await jobIn(service, 'delivered', 'limit-delivered', { startWithinSeconds: 0.3 });
  const marker = await createJob(service, 'limit-delivered', { startWithinSeconds: 0.3 });
  await hasStatus(marker.id, 'dead');
  expect((await read(id)).status).toBe('delivered');
  await returnJob(id);
  await hasStatus(id, 'dead');
  const { events, ...job } = await read(id);
  expect(job).toMatchObject({ error: NOT_STARTED, attemptNumber: 0 });
  expect(events.map((event: { type: string }) => event.type)).toEqual(['created', 'delivered', 'dead']); // It was not requeued.
});

it('startWithinSeconds restarts when the job is rescheduled, but not when a worker releases it', async () => {
  const { id } = await createJob(service, 'limit-begins', { startWithinSeconds: 3_600 });
  const first = await scoreIn('due', id);
  await call(id, 'claim');
  await call(id, 'release');
  expect(await scoreIn('due', id)).toBe(first);
  await call(id, 'claim');
  await call(id, 'release', { delaySeconds: 7_200 });
  expect(await scoreIn('due', id)).toBe(first); // It ends the job before the delay is over.
  const before = await redisNow(service.store);
  await call(id, 'reschedule', { delaySeconds: 0 });
  expect(await scoreIn('due', id)).toBeGreaterThanOrEqual(before + 3_600_000);
  await call(id, 'kill');
  expect(await scoreIn('due', id)).toBeNull();
});

it('maxRunSeconds ends an attempt whose worker keeps sending heartbeats', async () => {
  const fields = { maxRunSeconds: 0.5, timeoutSeconds: 60, maxRetries: 0 };
  const id = await jobIn(service, 'running', 'limit-too-long', fields);
  await until(async () => (await call(id, 'keepalive')).status === 409);
  const { events, ...job } = await read(id);
  expect(job).toMatchObject({ status: 'dead', error: 'Job ran longer than 0.5 seconds', maxRunSeconds: 0.5 });
  expect(timeOf(events[3]) - timeOf(events[2])).toBeGreaterThan(500);
});

it.each([
  ['progress', { percent: 1, message: 'x' }],
  ['checkpoint', 1],
  ['event', 1],
  ['keepalive', undefined],
])('maxRunSeconds is not extended by %s, which extends the window up to it', async (verb, body) => {
  const id = await jobIn(service, 'running', 'limit-limits', { maxRunSeconds: 100, timeoutSeconds: 60 });
  const [, , acked] = (await read(id)).events;
  expect(await scoreIn('deadlines', id)).toBe(timeOf(acked) + 60_000);
  await service.redis.hset(service.store.keys.job(id), 'runBy', timeOf(acked) + 30_000);
  await call(id, verb, body);
  expect(await scoreIn('deadlines', id)).toBe(timeOf(acked) + 30_000);
});

it('exceeding maxRunSeconds fails the attempt, and the job is retried with a new limit', async () => {
  const id = await jobIn(service, 'running', 'limit-again', { maxRunSeconds: 50, timeoutSeconds: 60, maxRetries: 1 });
  const runBy = Number(await service.redis.hget(service.store.keys.job(id), 'runBy'));
  expect(await scoreIn('deadlines', id)).toBe(runBy);
  await service.redis.hset(service.store.keys.job(id), 'runBy', 1);
  await makeDue(service, id);
  await hasStatus(id, 'pending');
  expect((await read(id)).events.at(-1)?.data).toEqual({ error: 'Job ran longer than 50 seconds', attemptNumber: 1 });
  await call(id, 'claim');
  await call(id, 'ack');
  expect(Number(await service.redis.hget(service.store.keys.job(id), 'runBy'))).toBeGreaterThanOrEqual(runBy);
});

it('maxRunSeconds does not change the error of an attempt without heartbeats', async () => {
  const id = await jobIn(service, 'running', 'limit-silent', {
    maxRunSeconds: 100,
    timeoutSeconds: 60,
    maxRetries: 0,
  });
  await makeDue(service, id);
  await hasStatus(id, 'dead');
  expect(await read(id)).toMatchObject({ error: 'Job timed out after 60 seconds without a heartbeat' });
});
