import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { append, toldTo } from './logs.js';

const NAME = 'a "job" – näme 🚂';
const LOGS_PER_JOB = 10;

let service: TestService;
let progressKey: string;
beforeAll(async () => {
  service = await startService({ LOGS_PER_JOB: String(LOGS_PER_JOB) });
  progressKey = (await service.key(['jobs:read:progress'])).key;
});
afterAll(() => service.stop());

const clients: StreamClient[] = [];
const open = async (path: string) => {
  const client = await StreamClient.open(service.url, path);
  clients.push(client);
  return client;
};
const openFull = (id: string) => open(`/${id}?token=${ADMIN_KEY}`);
const openSpace = (spaceId: string) => open(`/spaces/${spaceId}?token=${ADMIN_KEY}`);
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const post = (id: string, verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const logsOf = async (id: string) => (await service.call('GET', `/jobs/${id}/logs`)).body.logs;

it.each(STATUSES)('tells the streams of a %s job and of its space what was appended', async (status) => {
  const spaceId = `told-${status}`;
  const id = await jobIn(service, status, spaceId, { name: NAME });
  const [job, space] = [await openFull(id), await openSpace(spaceId)];
  await append(service, id, 3);
  const [{ createdAt }] = await logsOf(id);
  const message = {
    jobId: id,
    jobName: NAME,
    type: 'logs_appended',
    status,
    data: { fromSeq: 1, toSeq: 3, count: 3 },
    timestamp: createdAt,
  };
  expect(await job.next('logs_appended')).toEqual(message);
  expect(await space.next('logs_appended')).toEqual({ ...message, spaceId });
  expect([job.types(), space.types()]).toEqual(Array(2).fill(['init', 'logs_appended']));
});

it('tells of one batch in one message, with the time at which its entries were stored', async () => {
  const id = await jobIn(service, 'running', 'batches');
  const client = await openFull(id);
  for (const count of [1, 4, 2]) await append(service, id, count);
  await post(id, 'progress', { percent: 1, message: 'marker' });
  await client.next('progress');
  const stored = await logsOf(id);
  const batch = (fromSeq: number, toSeq: number) => ({
    data: { fromSeq, toSeq, count: toSeq - fromSeq + 1 },
    timestamp: stored[fromSeq - 1].createdAt,
  });
  const told = client.messages.filter(({ type }) => type === 'logs_appended');
  expect(told.map(({ data, timestamp }) => ({ data, timestamp }))).toEqual([batch(1, 1), batch(2, 5), batch(6, 7)]);
});

it('counts in a message what the cap has dropped at once', async () => {
  const id = await jobIn(service, 'running', 'cap');
  const client = await openFull(id);
  await append(service, id, LOGS_PER_JOB + 5);
  await append(service, id, 1);
  await post(id, 'event', 'marker');
  await client.next('event');
  expect(client.messages.slice(1, 3).map(({ data }) => data)).toEqual([
    { fromSeq: 1, toSeq: 15, count: 15 },
    { fromSeq: 16, toSeq: 16, count: 1 },
  ]);
});

it('begins with what is appended after the init', async () => {
  const id = await jobIn(service, 'running', 'later');
  await append(service, id, LOGS_PER_JOB + 5);
  const client = await openFull(id);
  await append(service, id, 2);
  await client.next('logs_appended');
  expect(toldTo(client)).toEqual([16, 17]);
});

it('withholds it from whoever may see progress only', async () => {
  const id = await jobIn(service, 'running', 'withheld');
  const [full, ...others] = [await openFull(id), await open(`/${id}?token=${progressKey}`), await open(`/${id}`)];
  await append(service, id, 3);
  await post(id, 'progress', { percent: 50, message: 'half' });
  await append(service, id, 3);
  await post(id, 'complete', { result: 'done' });
  await append(service, id, 3);
  await full.next('completed');
  for (const client of others) {
    await client.end(); // After it nothing can come.
    expect(client.types()).toEqual(['init', 'progress', 'completed']);
  }
  expect(toldTo(full)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it('shows on each stream only its own job, or the jobs of its own space', async () => {
  const ids = [];
  for (const spaceId of ['one', 'one', 'other']) ids.push(await jobIn(service, 'running', spaceId));
  const [first, second, third] = ids as [string, string, string];
  const [ofFirst, one, other] = [await openFull(first), await openSpace('one'), await openSpace('other')];
  for (const id of [second, third, first, third, second]) await append(service, id);
  for (const id of ids) await post(id, 'event', 'marker');
  for (const client of [ofFirst, one, other]) await client.next('event');
  const shown = ({ messages }: StreamClient) =>
    messages.filter(({ type }) => type === 'logs_appended').map(({ jobId, data }) => [jobId, data.fromSeq]);
  expect(shown(ofFirst)).toEqual([[first, 1]]);
  expect(shown(one)).toEqual([
    [second, 1],
    [first, 1],
    [second, 2],
  ]);
  expect(shown(other)).toEqual([
    [third, 1],
    [third, 2],
  ]);
});

it.each([
  ['of no entries', [], 400],
  ['with a fault in one entry', ['good', { message: 'bad', level: 'loud' }], 400],
])('tells nobody of a batch %s', async (_, body, status) => {
  const id = await jobIn(service, 'running', 'refused');
  const [job, space] = [await openFull(id), await openSpace('refused')];
  expect((await post(id, 'logs', body)).status).toBe(status);
  await append(service, id);
  for (const client of [job, space]) {
    await client.next('logs_appended');
    expect(toldTo(client)).toEqual([1]);
  }
});
