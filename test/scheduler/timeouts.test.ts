import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { makeDue } from '../support/schedulers.js';
import { type TestService, withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

const service = withService();
/** A service that returns jobs to the queue when they are not acked within half a second. */
const hasty = withService({ DELIVERY_TIMEOUT_SECONDS: '0.5' });
/** A service that delivers a job at most twice. */
const strict = withService({ MAX_DELIVERIES: '2' });

interface Event {
  type: string;
  createdAt: string;
}
const read = async (id: string, from: TestService = service) => (await from.call('GET', `/jobs/${id}`)).body;
const step = (id: string, verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const typesOf = (job: { events: Event[] }) => job.events.map(({ type }) => type);
const timeOf = (event: Event | undefined) => Date.parse(event?.createdAt as string);

/** Read when a job is due, epoch milliseconds. */
const dueAt = async (id: string) =>
  Number(await service.redis.zscore(service.store.keys.deadlines(id.slice(0, 2)), id));

/** Wait until a job's last event is this one, and return the job. */
async function readAfter(type: string, id: string, from: TestService = service) {
  await until(async () => typesOf(await read(id, from)).at(-1) === type);
  return read(id, from);
}

/** Let the window of a job pass, and return the job once the scheduler has handled the timeout. */
async function timeout(id: string, type: string) {
  await makeDue(service, id);
  return readAfter(type, id);
}

const SIGNS: [verb: string, body?: unknown][] = [
  ['progress', { percent: 1, message: 'on it' }],
  ['checkpoint', { at: 1 }],
  ['event', 'seen'],
  ['keepalive', undefined],
];

// Stored times are rounded down, so some microseconds may be missing from an equal number of milliseconds.
it.concurrent.each([50, 200, 450, 1_000, 1_337])(
  'an attempt times out once its worker has been silent for %i ms, and never earlier',
  async (windowMs) => {
    const fields = { timeoutSeconds: windowMs / 1_000, maxRetries: 1 };
    const ids = await Promise.all(Array.from({ length: 8 }, () => jobIn(service, 'running', 'silent', fields)));
    for (const id of ids) {
      const job = await readAfter('retried', id);
      expect(typesOf(job)).toEqual(['created', 'delivered', 'acked', 'retried']);
      expect(timeOf(job.events[3]) - timeOf(job.events[2])).toBeGreaterThan(windowMs);
    }
  },
);

it.each(SIGNS)('each %s call extends the execution window', async (verb, body) => {
  const id = await jobIn(service, 'running', 'signs', { timeoutSeconds: 60, maxRetries: 0 });
  const ackedAt = timeOf((await read(id)).events[2]);
  expect(await dueAt(id)).toBe(ackedAt + 60_000);
  await until(async () => (await redisNow(service.store)) > ackedAt);
  const from = await redisNow(service.store);
  expect((await step(id, verb, body)).status).toBe(200);
  const to = await redisNow(service.store);
  expect(await dueAt(id)).toBeGreaterThanOrEqual(from + 60_000);
  expect(await dueAt(id)).toBeLessThanOrEqual(to + 60_000);
  await timeout(id, 'dead');
});

// The attempt is over, so its worker must not change anything any more. Once another worker has acked
// the job, it is running again, and calls do not show who makes them.
it.each([
  ['pending', 1],
  ['delivered', 1],
  ['dead', 0],
])('every call of a worker whose attempt timed out gets 409 while the job is %s', async (jobStatus, maxRetries) => {
  const id = await jobIn(service, 'running', 'late', { maxRetries });
  await timeout(id, maxRetries === 0 ? 'dead' : 'retried');
  if (jobStatus === 'delivered') await step(id, 'claim');
  const before = await read(id);
  for (const [verb, body] of [...SIGNS, ['complete', { result: 1 }], ['fail', { error: 'x' }]] as const) {
    const { status, body: response } = await step(id, verb, body);
    const error = { error: 'Job is not running', code: 'JOB_NOT_RUNNING', jobStatus };
    expect({ verb, status, response }).toEqual({ verb, status: 409, response: error });
  }
  expect(await read(id)).toEqual(before);
});

it('an execution timeout changes no job that is pending or delivered, or that has ended', async () => {
  const statuses = ['pending', 'delivered', 'completed', 'dead', 'killed'] as const;
  const fields = { timeoutSeconds: 4, maxRetries: 0 };
  const ids = await Promise.all(statuses.map((status) => jobIn(service, status, 'others', fields)));
  const runAndKilled = await jobIn(service, 'running', 'others', { ...fields, timeoutSeconds: 60 });
  await step(runAndKilled, 'kill');
  const before = await Promise.all([...ids, runAndKilled].map((id) => read(id)));
  await readAfter('dead', await jobIn(service, 'running', 'others', fields));
  expect(await Promise.all([...ids, runAndKilled].map((id) => read(id)))).toEqual(before);
});

describe('a delivery timeout', () => {
  const poll = async (spaceId: string, count: number) =>
    (await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { count } })).body.jobs as { id: string }[];

  it('a delivery timeout requeues every job once, after DELIVERY_TIMEOUT_SECONDS and never earlier', async () => {
    const ids = await Promise.all(Array.from({ length: 15 }, async () => (await createJob(hasty, 'hasty')).id));
    for (const [n, id] of ids.entries()) {
      if (n % 5 === 0) await delay(130); // Spreads them, so that they are not all due in one sweep.
      await hasty.call('POST', `/jobs/${id}/claim`);
    }
    for (const id of ids) {
      const { events } = await readAfter('delivery_timeout', id, hasty);
      expect(typesOf({ events })).toEqual(['created', 'delivered', 'delivery_timeout']);
      expect(timeOf(events[2]) - timeOf(events[1])).toBeGreaterThan(500);
    }
  });

  it('a delivery timeout returns a job to its original place in the queue, as if it had never been delivered', async () => {
    const created = [];
    for (let n = 0; n < 3; n++) created.push(await createJob(service, 'place'));
    const [first, second] = (await poll('place', 2)) as [{ id: string }, { id: string }];
    await timeout(second.id, 'delivery_timeout');
    const { events, updatedAt, ...job } = await timeout(first.id, 'delivery_timeout');
    expect(events.at(-1)).toMatchObject({ type: 'delivery_timeout', data: null, createdAt: updatedAt });
    const { updatedAt: _, ...asCreated } = created[0] as { updatedAt?: string };
    expect(job).toEqual(asCreated);
    const late = await step(first.id, 'ack');
    const error = 'Job is not in a valid state for ack';
    expect(late).toMatchObject({ status: 409, body: { error, code: 'JOB_NOT_DELIVERED', jobStatus: 'pending' } });
    expect((await poll('place', 5)).map(({ id }) => id)).toEqual(created.map(({ id }) => id));
  });

  it('a delivery timeout does not count as an attempt', async () => {
    const id = await jobIn(service, 'running', 'again', { maxRetries: 1 });
    await step(id, 'fail', { error: 'x' });
    await step(id, 'claim');
    expect(await timeout(id, 'delivery_timeout')).toMatchObject({
      status: 'pending',
      attemptNumber: 1,
      deliveredAt: null,
    });
    await step(id, 'claim');
    await step(id, 'ack');
    expect(await read(id)).toMatchObject({ status: 'running', attemptNumber: 2 });
  });

  it('a job is dead, with its callback, after MAX_DELIVERIES delivery timeouts in a row since its last ack', async () => {
    const call = (verb: string, body?: unknown) => strict.call('POST', `/jobs/${id}/${verb}`, { body });
    const dropped = async (type: string) => {
      await call('claim');
      await makeDue(strict, id);
      return readAfter(type, id, strict);
    };
    // Its callback is refused, so that the attempt at it shows in the history at once.
    const { id } = await createJob(strict, 'strict', { callbackUrl: 'http://127.0.0.1/' });
    await dropped('delivery_timeout');
    await call('claim');
    await call('ack');
    await call('fail', { error: 'x' });
    await dropped('delivery_timeout');
    const { events, ...job } = await dropped('callback_failed');
    const error = 'Job was delivered 2 times and never acknowledged';
    expect(events.at(-2)).toMatchObject({ type: 'dead', data: { error }, createdAt: job.updatedAt });
    const deliveredAt = events.at(-3).createdAt;
    expect(job).toMatchObject({ status: 'dead', attemptNumber: 1, deliveredAt, startedAt: null, completedAt: null });
    const { retentionMs } = strict.store.settings;
    const purgeAt = await strict.redis.zscore(strict.store.keys.deadlines(id.slice(0, 2)), id);
    expect(Number(purgeAt)).toBe(Date.parse(job.updatedAt) + retentionMs);
  });

  it('a delivery timeout does not affect a job that was acked in time', async () => {
    const id = await jobIn(service, 'delivered', 'acked', { timeoutSeconds: 7_200 });
    const { deliveredAt } = await read(id);
    expect(await dueAt(id)).toBe(Date.parse(deliveredAt) + 30_000);
    await step(id, 'ack');
    const { startedAt } = await read(id);
    expect(await dueAt(id)).toBe(Date.parse(startedAt) + 7_200_000);
  });
});

it('streams show timeouts as they happen, but not to clients that see only progress', async () => {
  const shown = ({ messages }: StreamClient) =>
    messages.map(({ type, status, data }) => ({ type, status, data })).filter(({ type }) => type !== 'init');
  const { id } = await createJob(service, 'shown', { timeoutSeconds: 60, maxRetries: 1 });
  const [job, space, anonymous] = await Promise.all([
    StreamClient.open(service.url, `/${id}?token=${ADMIN_KEY}`),
    StreamClient.open(service.url, `/spaces/shown?token=${ADMIN_KEY}`),
    StreamClient.open(service.url, `/${id}`),
  ]);
  for (const type of ['delivery_timeout', 'retried', 'dead']) {
    await step(id, 'claim');
    if (type !== 'delivery_timeout') await step(id, 'ack');
    await makeDue(service, id);
    await job.next(type);
  }
  await space.next('dead');

  const error = 'Job timed out after 60 seconds without a heartbeat';
  const messages = [
    { type: 'delivered', status: 'delivered', data: null },
    { type: 'delivery_timeout', status: 'pending', data: null },
    { type: 'delivered', status: 'delivered', data: null },
    { type: 'acked', status: 'running', data: null },
    { type: 'retried', status: 'pending', data: { error, attemptNumber: 1 } },
    { type: 'delivered', status: 'delivered', data: null },
    { type: 'acked', status: 'running', data: null },
    { type: 'dead', status: 'dead', data: { error } },
  ];
  expect(shown(job)).toEqual(messages);
  expect(shown(space)).toEqual(messages);
  expect(shown(anonymous)).toEqual([]);
  const { events } = await read(id);
  expect(job.messages.at(-1).timestamp).toBe(events.at(-1).createdAt);
  await Promise.all([job, space, anonymous].map((client) => client.close()));
});
