import { expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { inTime, untilWaiting, withApi } from './api.js';

const service = withService();
const api = withApi(service);
const open = withStreams(service);
const withoutChecks = withApi(service, { hasChecks: false });
const SPACE = `ends-${process.pid}`;

const waitFor = (id: string, seconds = 20) => api.call('GET', `/jobs/${id}?waitSeconds=${seconds}`);

const ENDS: [status: string, fields: Record<string, unknown>, end: (id: string) => Promise<void>][] = [
  ['completed', {}, (id) => step(service, id, 'complete', { result: { n: 1 } })],
  ['dead', { maxRetries: 0 }, (id) => step(service, id, 'fail', { error: 'x' })],
  ['killed', {}, (id) => step(service, id, 'kill', { reason: 'x' })],
];

it.each(ENDS)('a waiting read returns a job as soon as it is %s', async (status, fields, end) => {
  const id = await jobIn(service, 'running', SPACE, fields);
  await inTime(withoutChecks, async () => {
    const waiting = withoutChecks.call('GET', `/jobs/${id}?waitSeconds=20`);
    await until(() => withoutChecks.context.subscriptions.isSubscribed(service.store.keys.jobChannel(id)));
    await step(service, id, 'progress', { percent: 50, message: '"status":"completed"' });
    await end(id);
    const { body } = await waiting;
    expect(body).toMatchObject({ id, status });
    expect(body).toEqual((await service.call('GET', `/jobs/${id}`)).body);
  });
});

it('a waiting read returns an ended job immediately, and an unfinished one after its time', async () => {
  const ended = await jobIn(service, 'completed', SPACE);
  expect((await waitFor(ended)).body.status).toBe('completed');
  const running = await jobIn(service, 'running', SPACE);
  expect((await waitFor(running, 0.05)).body).toEqual((await service.call('GET', `/jobs/${running}`)).body);
});

it('a waiting read returns the requested part of the history', async () => {
  const id = await jobIn(service, 'running', SPACE);
  const waiting = ['events=0', 'eventsAfter=3'].map((query) => api.call('GET', `/jobs/${id}?waitSeconds=20&${query}`));
  await untilWaiting(api, 2);
  await step(service, id, 'complete');
  const [without, page] = await Promise.all(waiting);
  const { events, ...job } = (await service.call('GET', `/jobs/${id}`)).body;
  expect(without?.body).toEqual(job);
  expect(page?.body).toEqual({ ...job, events: events.slice(3) });
});

it('a waiting read returns a retried job only after its last attempt', async () => {
  const id = await jobIn(service, 'running', SPACE, { maxRetries: 1 });
  const waiting = waitFor(id);
  await untilWaiting(api, 1);
  await step(service, id, 'fail', { error: 'first' });
  for (const verb of ['claim', 'ack']) await step(service, id, verb);
  await step(service, id, 'fail', { error: 'second' });
  expect((await waiting).body).toMatchObject({ status: 'dead', error: 'second', attemptNumber: 2 });
});

it('responds to all calls that wait for the same job', async () => {
  const id = await jobIn(service, 'running', SPACE);
  const waiting = Array.from({ length: 10 }, () => waitFor(id));
  await untilWaiting(api, 10);
  await step(service, id, 'complete');
  expect((await Promise.all(waiting)).map(({ body }) => body.status)).toEqual(Array(10).fill('completed'));
});

it('streams and waiting calls share the channel of a job in one process', async () => {
  const id = await jobIn(service, 'running', SPACE);
  const { key } = await service.key(['jobs:read']);
  const read = () => service.call('GET', `/jobs/${id}?waitSeconds=20`);
  const first = await open(`/${id}?token=${key}`);
  const waiting = [read()];
  await untilWaiting(service, 1);
  const second = await open(`/${id}?token=${key}`);
  waiting.push(read());
  await untilWaiting(service, 2);
  await first.close();
  await step(service, id, 'progress', { percent: 50, message: 'half' });
  await second.next('progress');
  await step(service, id, 'complete');
  await second.next('completed');
  expect((await Promise.all(waiting)).map(({ body }) => body.status)).toEqual(['completed', 'completed']);
  expect(second.types()).toEqual(['init', 'progress', 'completed']);
});

const create = (query: string, body: object, options = {}) =>
  api.call('POST', `/spaces/${SPACE}/jobs${query}`, { body: { name: 'waited', ...body }, ...options });

/** Complete the pending job of a space with this name. */
async function workOn(name: string): Promise<string> {
  const { body } = await service.call('POST', `/spaces/${SPACE}/jobs/poll`, { body: { types: [name] } });
  const [{ id }] = body.jobs;
  await step(service, id, 'ack');
  await step(service, id, 'complete', { result: 'done' });
  return id;
}

it('a waiting create returns the job with its result', async () => {
  const waiting = create('?waitSeconds=20', { name: 'result' });
  await untilWaiting(api, 1);
  const id = await workOn('result');
  const { status, body } = await waiting;
  const { events: _events, ...job } = (await service.call('GET', `/jobs/${id}`)).body;
  expect({ status, body }).toEqual({ status: 201, body: job });
  expect(body.result).toBe('done');
});

it('a waiting create returns the unfinished job after its time', async () => {
  const { status, body } = await create('?waitSeconds=0.05', { payload: { n: 1 } });
  expect({ status, job: body }).toMatchObject({ status: 201, job: { status: 'pending', payload: { n: 1 } } });
  expect(body.events).toBeUndefined();
});

it('a repeated waiting create returns the same result', async () => {
  const headers = { 'idempotency-key': `key-${process.pid}` };
  const waiting = create('?waitSeconds=20', { name: 'again' }, { headers });
  await untilWaiting(api, 1);
  await workOn('again');
  const first = await waiting;
  const second = await create('?waitSeconds=20', { name: 'again' }, { headers });
  expect(second.body).toEqual(first.body);
  expect(second.headers['idempotent-replayed']).toBe('true');
});

it('a waiting create waits for the job that occupies the unique key', async () => {
  const unique = { key: 'k' };
  const { id } = await createJob(service, SPACE, { name: 'unique', unique });
  const waiting = create('?waitSeconds=20', { name: 'unique', unique });
  await untilWaiting(api, 1);
  await workOn('unique');
  const { status, body } = await waiting;
  expect({ status, body }).toMatchObject({ status: 200, body: { id, status: 'completed', result: 'done' } });
});

it('only a key with jobs:read can wait for the result of a job that it creates', async () => {
  const { key } = await service.key(['jobs:create']);
  const refused = await create('?waitSeconds=1', { name: 'unread' }, { key });
  expect(refused).toMatchObject({ status: 403, body: { error: 'Missing required scope: jobs:read' } });
  expect((await create('?waitSeconds=0', { name: 'unread' }, { key })).status).toBe(201);
  const { jobs } = (await service.call('GET', `/spaces/${SPACE}/stats`)).body;
  expect(jobs.total).toBeGreaterThan(0);
  const list = (await service.call('GET', `/spaces/${SPACE}/jobs?limit=100`)).body;
  expect(list.filter(({ name }: { name: string }) => name === 'unread')).toHaveLength(1);
});

it('a call waits only for a job that its key may read', async () => {
  const id = await jobIn(service, 'running', SPACE);
  const { key } = await service.key(['jobs:read'], { spaceId: 'other' });
  const get = (path: string) => api.call('GET', `/jobs/${path}?waitSeconds=20`, { key });
  expect([(await get(id)).status, (await get('00aaaaaaaaaaaaaaaaaaaaaaaaaa')).status]).toEqual([403, 404]);
});

it('refuses a misspelled waitSeconds in a query', async () => {
  const { status, body } = await create('?waitSecond=1', {});
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { error: 'unknown query parameter waitSecond, did you mean waitSeconds?' },
  });
});
