import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { EventStreamClient } from '../support/event-stream-client.js';
import { appendEvents, changeState } from '../support/job-state.js';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { withGateway } from './gateway.js';

const service = withService();
const ORIGIN = 'https://pages.example';
const gateway = withGateway(service, { CORS_ORIGINS: ORIGIN });

const clients: EventStreamClient[] = [];
const open = async (path: string, headers: Record<string, string> = {}) => {
  const client = await EventStreamClient.open(gateway.url, path, headers);
  clients.push(client);
  return client;
};
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'watched');
});
const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const key = { 'x-api-key': ADMIN_KEY };
const idsOf = ({ events }: EventStreamClient) => events.map(({ name, data, id }) => [data.type ?? name, id]);
const ENDED = ['ended', null];

it('an event stream sends the messages of the WebSocket with the seq as the event ID, and ends with the job', async () => {
  const client = await open(`/${id}`, key);
  expect(client.response.status).toBe(200);
  expect(Object.fromEntries(client.response.headers)).toMatchObject({
    ...{ 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    'x-request-id': expect.any(String),
  });
  await post('progress', { percent: 40, message: 'a\nb' });
  await service.call('POST', `/jobs/${id}/logs`, { body: ['line'] });
  await post('complete', { result: { ok: true } });
  expect(await client.end()).toBe('whole');
  expect(idsOf(client)).toEqual([['init', '3'], ['progress', '4'], ['logs_appended', null], ['completed', '5'], ENDED]);
  expect(client.messages[1]).toEqual({
    ...{ jobId: id, jobName: 'work', type: 'progress', status: 'running' },
    ...{ data: { percent: 40, message: 'a\nb' }, timestamp: expect.any(String) },
  });
});

it('an event stream responds to HEAD as to GET, but without messages', async () => {
  const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'date', 'x-request-id'];
  const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => !ofConnection.includes(name));
  const { response } = await open(`/${id}`, { ...key, 'last-event-id': '' });
  const url = `${gateway.url}/api/v1/realtime/${id}`;
  const head = await fetch(url, { method: 'HEAD', headers: { ...key, accept: 'text/event-stream' } });
  expect([head.status, headersOf(head)]).toEqual([200, headersOf(response)]);
  expect((await fetch(`${url}x`, { method: 'HEAD', headers: { accept: 'text/event-stream' } })).status).toBe(404);
});

it('an event stream resumes after Last-Event-ID instead of since, and returns 204 if nothing follows', async () => {
  await post('progress', { percent: 1, message: 'm' });
  await post('event', 2);
  const again = await open(`/${id}?since=2`, { ...key, 'last-event-id': '4' });
  await until(() => again.messages.length === 2);
  expect(idsOf(again)).toEqual([
    ['init', '4'],
    ['event', '5'],
  ]);
  await post('complete');
  expect(await again.end()).toBe('whole');
  const over = await open(`/${id}`, { ...key, 'last-event-id': again.lastId as string });
  expect([over.response.status, await over.end(), over.events]).toEqual([204, 'whole', []]);
  const late = await open(`/${id}`, key);
  expect([await late.end(), late.types()]).toEqual(['whole', ['init']]);
  expect((await open(`/${id}`, { ...key, 'last-event-id': late.lastId as string })).response.status).toBe(204);
});

it('an event stream does not return 204 to a client that has more events than Redis', async () => {
  await post('complete');
  const client = await open(`/${id}`, { ...key, 'last-event-id': '99' });
  expect([await client.end(), idsOf(client)]).toEqual(['whole', [['init', '4'], ENDED]]);
});

it('an event stream returns 204 if the history continues only with events that no stream shows', async () => {
  await post('fail', { error: 'x', retryable: false });
  const client = await open(`/${id}`, { ...key, 'last-event-id': '3' });
  await client.end();
  const { redis, store } = service;
  await appendEvents(redis, store.keys.job(id), '["callback_failed",1,{}]', '["callback_failed",2,{}]');
  expect((await open(`/${id}`, { ...key, 'last-event-id': '4' })).response.status).toBe(204);
  expect((await open(`/${id}`, { ...key, 'last-event-id': '3' })).response.status).toBe(200);
});

it('an event stream shows a client without a key the progress, but hides how and when the job ended', async () => {
  await post('progress', { percent: 1, message: 'm' });
  const client = await open(`/${id}`);
  expect(client.messages[0]).toEqual({
    ...{ jobId: id, type: 'init', progress: { percent: 1, message: 'm' }, timestamp: expect.any(String) },
  });
  await post('progress', { percent: 2, message: 'm' });
  await until(() => client.messages.length === 2);
  await post('kill');
  expect(client.events.map((event) => event.id)).toEqual(['0', '5']);
  const again = await open(`/${id}`, { 'last-event-id': client.lastId as string });
  expect([again.response.status, client.ended]).toEqual([200, null]);
  await changeState(service.redis, service.store.keys.job(id), { updatedAt: Date.now() - 121_000 });
  expect((await open(`/${id}`, { 'last-event-id': client.lastId as string })).response.status).toBe(204);
});

it('an event stream accepts the key in the query or as a Bearer token', async () => {
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  expect(client.messages[0]).toMatchObject({ type: 'init', status: 'running' });
  expect((await open(`/${id}`, { authorization: `Bearer ${ADMIN_KEY}` })).messages[0]).toHaveProperty('status');
});

it.each([
  ['a wrong key', () => `/${id}`, { 'x-api-key': 'wrong' }, 401, 'UNAUTHENTICATED'],
  ['an empty token', () => `/${id}?token=`, {}, 401, 'UNAUTHENTICATED'],
  ['an empty Bearer token', () => `/${id}`, { authorization: 'Bearer ' }, 401, 'UNAUTHENTICATED'],
  ['no such job', () => '/zzz', key, 404, 'JOB_NOT_FOUND'],
  ['a space without a key', () => '/spaces/watched', {}, 401, 'UNAUTHENTICATED'],
  ['an unknown parameter', () => `/${id}?sinse=1`, key, 400, 'INVALID_REQUEST'],
  [
    'a type that it refuses',
    () => `/${id}`,
    { ...key, accept: 'text/html, text/event-stream; q=0' },
    426,
    'UPGRADE_REQUIRED',
  ],
  ['a Last-Event-ID that is no number', () => `/${id}`, { ...key, 'last-event-id': 'x' }, 400, 'INVALID_REQUEST'],
])('an event stream is refused with %s', async (_, path, headers, status, code) => {
  const response = await fetch(`${gateway.url}/api/v1/realtime${path()}`, {
    headers: { accept: 'text/event-stream', ...headers } as Record<string, string>,
  });
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
});

it('an event stream can be read only by pages of the allowed origins', async () => {
  const from = async (origin: string) =>
    (await open(`/${id}`, { origin })).response.headers.get('access-control-allow-origin');
  expect([await from(ORIGIN), await from('https://other.example')]).toEqual([ORIGIN, null]);
});

it('an event stream ends when its key is revoked', async () => {
  const { id: keyId, key: text } = await service.key(['jobs:read']);
  const client = await open(`/${id}`, { 'x-api-key': text });
  await service.call('DELETE', `/keys/${keyId}`);
  expect(await client.end()).toBe('whole');
  expect((await open(`/${id}`, { 'x-api-key': text })).response.status).toBe(401);
});

it('an event stream of a space sends no ids, and filters by type', async () => {
  const client = await open('/spaces/watched?type=progress', key);
  await until(() => client.messages.length === 1);
  await post('event', 1);
  await post('progress', { percent: 5, message: 'm' });
  await until(() => client.messages.length === 2);
  expect(idsOf(client)).toEqual([
    ['init', null],
    ['progress', null],
  ]);
});
