import { beforeEach, expect, it } from '@jest/globals';
import { appendEvents } from '../support/job-state.js';
import { jobIn, writeHistory } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { withGateway } from './gateway.js';
import { append } from './logs.js';

const service = withService({ EVENTS_PER_JOB: '10' });
const gateway = withGateway(service);
const open = withStreams(gateway);

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'resumed');
});

const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const openSince = (since: number | string, key = ADMIN_KEY) => open(`/${id}?token=${key}&since=${since}`);
/** Types and seqs of messages. */
const shown = (messages: { type: string; seq?: number; missed?: true }[]) =>
  messages.map(({ type, seq, missed }) => [type, seq, ...(missed ? ['missed'] : [])]);

it('a stream with since sends the events after that number and then new ones, each with its seq', async () => {
  await post('progress', { percent: 1, message: 'm' });
  await post('checkpoint', { page: 2 });
  const client = await openSince(3);
  await post('event', 'live');
  await client.next('event');
  expect(shown(client.messages)).toEqual([
    ['init', 3],
    ['progress', 4],
    ['checkpoint', 5],
    ['event', 6],
  ]);
  expect(client.messages.map(({ status }) => status)).toEqual(Array(4).fill('running'));
  expect(client.messages[2]).toMatchObject({ jobId: id, data: { page: 2 } });
});

it('a stream with since=0 sends the whole history, and ends after the end of the job', async () => {
  await post('complete', { result: 7 });
  const client = await openSince(0);
  expect(await client.end()).toMatchObject({ code: 1000 });
  expect(shown(client.messages)).toEqual([
    ['init', 1],
    ['delivered', 2],
    ['acked', 3],
    ['completed', 4],
  ]);
  expect(client.messages.map(({ status }) => status)).toEqual(['completed', 'delivered', 'running', 'completed']);
});

it('a stream with since continues after a requeue, even though the history has an earlier end', async () => {
  await post('fail', { error: 'x', retryable: false });
  await service.call('POST', `/jobs/${id}/requeue`);
  const client = await openSince(3);
  await client.next('requeued');
  await service.call('POST', `/jobs/${id}/claim`);
  await client.next('delivered');
  expect(shown(client.messages)).toEqual([
    ['init', 3],
    ['dead', 4],
    ['requeued', 5],
    ['delivered', 6],
  ]);
  expect(client.closed).toBeNull();
});

it('a stream with since reports missed events that the history has dropped', async () => {
  for (let i = 0; i < 12; i++) await post('event', i);
  const client = await openSince(4);
  await until(() => client.messages.length === 10);
  expect(shown(client.messages)).toEqual([
    ['init', 6, 'missed'],
    ...Array.from({ length: 9 }, (_, i) => ['event', 7 + i]),
  ]);
  expect(shown((await openSince(6)).messages)[0]).toEqual(['init', 6]);
});

it('a stream with since starts from now when Redis has fewer events than the client', async () => {
  const client = await openSince(99);
  await post('event', 'live');
  await client.next('event');
  expect(shown(client.messages)).toEqual([
    ['init', 3, 'missed'],
    ['event', 4],
  ]);
});

it('a stream with since tells a client that has more events than Redis that its job is completed', async () => {
  const { key } = await service.key(['jobs:read:progress']);
  await post('complete', { result: 7 });
  const client = await openSince(99, key);
  await client.next('completed');
  expect(shown(client.messages)).toEqual([
    ['init', 99, 'missed'],
    ['completed', 4],
  ]);
});

it('a stream with since shows a client of progress scope only progress messages', async () => {
  const { key } = await service.key(['jobs:read:progress']);
  await post('progress', { percent: 1, message: 'm' });
  await post('event', 'hidden');
  await post('progress', { percent: 2, message: 'm' });
  await post('complete', { result: 7 });
  const client = await openSince(4, key);
  await client.next('completed');
  expect(shown(client.messages)).toEqual([
    ['init', 4],
    ['progress', 6],
    ['completed', 7],
  ]);
  expect(Object.keys(client.messages[2]).sort()).toEqual(['jobId', 'seq', 'timestamp', 'type']);
});

it('a stream with since does not reveal the number of events to a client of progress scope', async () => {
  const { key } = await service.key(['jobs:read:progress']);
  await post('event', 'hidden');
  for (const since of [99, 2])
    expect(shown((await openSince(since, key)).messages)[0]?.slice(0, 2)).toEqual(['init', since]);
});

it('a job stream stays open when its job is requeued soon after its end', async () => {
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  await post('kill');
  await client.next('killed');
  await post('requeue');
  await client.next('requeued');
  const other = await jobIn(service, 'running', 'resumed');
  const later = await open(`/${other}?token=${ADMIN_KEY}`);
  await service.call('POST', `/jobs/${other}/kill`);
  expect(await later.end()).toMatchObject({ code: 1000 });
  expect(client.closed).toBeNull();
});

it('a stream with since sends appended logs without a seq', async () => {
  const client = await openSince(3);
  await append(service, id, 2);
  const appended = await client.next('logs_appended');
  expect(appended).not.toHaveProperty('seq');
});

it('a stream with since sends a history that is read in several portions once and in order', async () => {
  await writeHistory(service, id);
  const entries = Array.from({ length: 350 }, (_, i) => JSON.stringify(['event', Date.now(), i]));
  await appendEvents(service.redis, service.store.keys.job(id), ...entries);
  const client = await openSince(1);
  await until(() => client.messages.length >= 353);
  expect(client.messages.slice(1).map(({ seq }) => seq)).toEqual(Array.from({ length: 352 }, (_, i) => i + 2));
  expect(client.dataOf('event')).toEqual(Array.from({ length: 350 }, (_, i) => i));
});

it.each(['-1', 'x', '1.5', ''])('a stream is refused with since=%s', async (since) => {
  await expect(openSince(since)).rejects.toThrow('no stream');
});

it('a stream without since sends no seq', async () => {
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  await post('event', 1);
  await client.next('event');
  for (const message of client.messages) expect(message).not.toHaveProperty('seq');
});
