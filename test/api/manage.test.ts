import { describe, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { StreamClient, withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

// What operators do with jobs that have ended: requeue, copy, delete.

const service = withService();
withStreams(service);

const read = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body;
const call = async (id: string, verb: string, body?: unknown, token?: string) => {
  const headers = token === undefined ? {} : { 'x-delivery-token': token };
  return service.call('POST', `/jobs/${id}/${verb}`, { body, headers });
};
const claim = async (id: string) => (await call(id, 'claim')).body.job;
const typesOf = ({ events }: { events: { type: string }[] }) => events.map(({ type }) => type);
const UNIQUE = { key: 'one' };

it('requeues a dead job with a fresh set of attempts, its checkpoint and its history', async () => {
  const { id } = await createJob(service, 'requeue', { maxRetries: 1 });
  for (const page of [1, 2]) {
    await claim(id);
    await step(service, id, 'ack');
    await step(service, id, 'checkpoint', { page });
    await step(service, id, 'fail', { error: 'no' });
  }
  expect(await read(id)).toMatchObject({ status: 'dead', attemptNumber: 2, error: 'no' });

  expect((await call(id, 'requeue')).body).toEqual({ success: true });

  const { events, ...job } = await read(id);
  expect(job).toMatchObject({
    status: 'pending',
    attemptNumber: 0,
    deliveredAt: null,
    startedAt: null,
    result: null,
  });
  expect(job).not.toHaveProperty('error');
  expect(events.at(-1)).toMatchObject({ type: 'requeued', data: null });
  expect(await claim(id)).toMatchObject({ attempt: 1, attemptNumber: 0, checkpoint: { page: 2 } });
  await step(service, id, 'ack');
  await step(service, id, 'fail', { error: 'again' });
  expect(await read(id)).toMatchObject({ status: 'pending', attemptNumber: 1, error: 'again' });
});

it('requeues a job behind the pending jobs, or after a delay', async () => {
  const [now, later] = [
    await jobIn(service, 'killed', 'requeue-order'),
    await jobIn(service, 'killed', 'requeue-order'),
  ];
  const { id: waiting } = await createJob(service, 'requeue-order');
  await step(service, now, 'requeue');
  await step(service, later, 'requeue', { delaySeconds: 3_600 });
  const { scheduledFor, events, status } = await read(later);
  expect({ status, event: events.at(-1) }).toMatchObject({ status: 'scheduled', event: { data: { scheduledFor } } });
  const { body } = await service.call('POST', '/spaces/requeue-order/jobs/poll', { body: { count: 10 } });
  expect(body.jobs.map((job: { id: string }) => job.id)).toEqual([waiting, now]);
});

it('refuses ack, keepalive and complete of the previous worker of a requeued job, but not fail and release', async () => {
  const { id } = await createJob(service, 'requeue-tokens');
  const { deliveryToken: old } = await claim(id);
  await step(service, id, 'ack');
  await step(service, id, 'kill');
  await step(service, id, 'requeue');
  const { deliveryToken } = await claim(id);
  await step(service, id, 'ack');
  for (const verb of ['ack', 'keepalive', 'complete'])
    expect((await call(id, verb, {}, old)).body).toMatchObject({ code: 'DELIVERY_LOST', jobStatus: 'running' });
  for (const verb of ['fail', 'release']) expect((await call(id, verb, { error: 'x' }, old)).status).toBe(200);
  expect(await read(id)).toMatchObject({ status: 'running', attemptNumber: 1 });
  expect((await call(id, 'complete', { result: 1 }, deliveryToken)).status).toBe(200);
});

it('a requeued job reclaims its unique key, unless another job holds it', async () => {
  const first = await jobIn(service, 'killed', 'requeue-unique', { unique: UNIQUE });
  const second = await jobIn(service, 'pending', 'requeue-unique', { unique: UNIQUE });
  expect(await call(first, 'requeue')).toMatchObject({
    status: 409,
    body: { code: 'JOB_NOT_UNIQUE', jobId: second, jobStatus: 'pending' },
  });
  expect((await read(first)).status).toBe('killed');
  await step(service, second, 'kill');
  await step(service, first, 'requeue');
  const again = { body: { name: 'work', unique: UNIQUE } };
  expect(await service.call('POST', '/spaces/requeue-unique/jobs', again)).toMatchObject({
    status: 200,
    body: { id: first },
  });
});

it('a requeued job reclaims a unique key that its ack has freed, but not an expired one', async () => {
  const started = { ...UNIQUE, until: 'started' };
  const first = await jobIn(service, 'dead', 'requeue-started', { unique: started });
  await step(service, first, 'requeue');
  const again = { body: { name: 'work', unique: started } };
  expect((await service.call('POST', '/spaces/requeue-started/jobs', again)).body.id).toBe(first);

  const timed = { ...UNIQUE, until: 'expired', ttlSeconds: 1 };
  const old = await jobIn(service, 'killed', 'requeue-timed', { unique: timed });
  const create = () => service.call('POST', '/spaces/requeue-timed/jobs', { body: { name: 'work', unique: timed } });
  await until(async () => (await create()).status === 201);
  expect((await call(old, 'requeue')).status).toBe(200);
});

it('a requeue drops a pending callback, and the next outcome sends a new one', async () => {
  const hook = { callbackUrl: 'http://127.0.0.1:9/', callbackOn: ['killed', 'completed'] };
  const id = await jobIn(service, 'killed', 'requeue-callback', hook);
  await step(service, id, 'requeue');
  const types = typesOf(await read(id));
  await claim(id);
  await step(service, id, 'ack');
  await step(service, id, 'complete');
  await until(async () => typesOf(await read(id)).at(-1) === 'callback_failed');
  const callbacks = (await read(id)).events
    .slice(types.length)
    .filter(({ type }: { type: string }) => type === 'callback_failed');
  expect(callbacks[0].data).toMatchObject({ attempt: 1 });
});

it('shows a requeue on the stream of its space', async () => {
  const id = await jobIn(service, 'killed', 'requeue-stream');
  const { key } = await service.key(['jobs:read']);
  const client = await StreamClient.open(service.url, `/spaces/requeue-stream?token=${key}`);
  await step(service, id, 'requeue');
  await until(() => client.messages.some(({ type }) => type === 'requeued'));
  expect(client.messages.at(-1)).toMatchObject({ jobId: id, type: 'requeued', status: 'pending', data: null });
});

describe('copy', () => {
  const OPTIONS = {
    payload: { image: 'cat.png' },
    maxRetries: 7,
    timeoutSeconds: 12.5,
    callbackUrl: 'http://127.0.0.1:9/',
    callbackHeaders: { 'x-a': 'b' },
    callbackOn: ['dead'],
    retry: { delaySeconds: [1, 2], jitter: 0 },
    maxRunSeconds: 60,
    startWithinSeconds: 3_600,
    priority: 5,
    tags: ['eu', 'big'],
  };

  it('copies a job of any status to a pending job with the same options', async () => {
    for (const status of ['scheduled', 'running', 'completed', 'killed'] as const) {
      const id = await jobIn(service, status, 'copy', { ...OPTIONS, unique: { key: status } });
      const { status: code, body } = await call(id, 'copy');
      expect(code).toBe(201);
      expect(body).toMatchObject({
        ...OPTIONS,
        name: 'work',
        spaceId: 'copy',
        status: 'pending',
        copyOf: id,
        attemptNumber: 0,
      });
      expect(body.id).not.toBe(id);
      for (const field of ['unique', 'scheduledFor', 'error', 'progress']) expect(body).not.toHaveProperty(field);
      const { events, ...job } = await read(body.id);
      expect(job).toEqual(body);
      expect(typesOf({ events })).toEqual(['created']);
      await step(service, body.id, 'kill');
      if (status === 'running') await step(service, id, 'kill');
    }
  });

  it.each([
    [{ payload: null }, OPTIONS.payload],
    [{ payload: { image: 'dog.png' } }, { image: 'dog.png' }],
    [{}, OPTIONS.payload],
  ])('copies a job with the body %j to a job with the payload %j', async (body, payload) => {
    const id = await jobIn(service, 'completed', 'copy-payload', { payload: OPTIONS.payload });
    expect((await call(id, 'copy', body)).body).toMatchObject({ copyOf: id, payload });
  });

  it('ignores unknown fields of a copy, even large ones', async () => {
    const id = await jobIn(service, 'completed', 'copy-payload', { payload: OPTIONS.payload });
    const { status, body } = await call(id, 'copy', { unknown: 'x'.repeat(100_000) });
    expect([status, body.payload]).toEqual([201, OPTIONS.payload]);
  });
});

it.each(['completed', 'dead', 'killed'] as const)('deletes a %s job with its history and its logs', async (status) => {
  const space = `delete-${status}`;
  const id = await jobIn(service, status, space, { unique: UNIQUE, callbackUrl: 'http://127.0.0.1:9/' });
  await step(service, id, 'logs', ['one']);
  expect(await service.call('DELETE', `/jobs/${id}`)).toMatchObject({ status: 200, body: { success: true } });
  expect((await service.call('GET', `/jobs/${id}`)).status).toBe(404);
  expect((await service.call('DELETE', `/jobs/${id}`)).body).toMatchObject({ code: 'JOB_NOT_FOUND' });
  expect((await service.call('GET', `/spaces/${space}/jobs`)).body).toEqual([]);
  expect((await service.call('GET', `/spaces/${space}/stats`)).body.jobs.total).toBe(0);
  expect(await service.redis.keys(`${service.store.keys.job(id)}*`)).toEqual([]);
});

it.each(['scheduled', 'pending', 'delivered', 'running'] as const)('refuses to delete a %s job', async (status) => {
  const id = await jobIn(service, status, 'delete-refused');
  expect(await service.call('DELETE', `/jobs/${id}`)).toMatchObject({
    status: 409,
    body: { code: 'JOB_NOT_ENDED', jobStatus: status },
  });
  expect((await read(id)).status).toBe(status);
});

it('a delete frees a time-limited unique key and an idempotency key', async () => {
  const body = { name: 'work', unique: { ...UNIQUE, until: 'expired', ttlSeconds: 3_600 } };
  const create = () => service.call('POST', '/spaces/delete-keys/jobs', { body, headers: { 'idempotency-key': 'k' } });
  const { id } = (await create()).body;
  await step(service, id, 'kill');
  expect((await service.call('DELETE', `/jobs/${id}`)).status).toBe(200);
  const again = await create();
  expect(again).toMatchObject({ status: 201, body: { id, status: 'pending' } });
  expect(again.headers).not.toHaveProperty('idempotent-replayed');
});
