import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { type Site, startSite } from './site.js';
import { type Wscat, wscat } from './wscat.js';

let site: Site;
const running: Wscat[] = [];

beforeAll(async () => {
  site = await startSite();
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
afterAll(() => site?.stop()); // Undefined if the start failed.

/** Watch a path below /api/v1/realtime through nginx. */
function watch(path: string): Wscat {
  const client = wscat(`${site.nginx.url.replace('http', 'ws')}/api/v1/realtime${path}`);
  running.push(client);
  return client;
}

/** Wait for this many lines, and return them as messages without their time. */
async function messages({ lines, errors }: Wscat, count: number) {
  await until(() => lines().length >= count || errors() !== '');
  expect(errors()).toBe('');
  return lines().map((line) => {
    const { timestamp, ...message } = JSON.parse(line);
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    return message;
  });
}

it('wscat prints the events of the jobs of a space, one message per line', async () => {
  const client = watch(`/spaces/${site.spaceId}?token=${encodeURIComponent(await site.key('jobs:read'))}`);
  expect(await messages(client, 1)).toEqual([{ spaceId: 'demo', type: 'init' }]);

  const done = await site.job({ maxRetries: 1 });
  const report = { percent: 40, message: 'Resizing', subProgress: { decode: { percent: 100 } } };
  for (const [verb, body] of [
    ['claim'],
    ['ack'],
    ['progress', report],
    ['checkpoint', [7]],
    ['event', 'half-way'],
    ['fail', { error: 'disk full' }],
    ['claim'],
    ['ack'],
    ['complete', { result: { bytes: 51234 } }],
  ] as const)
    await site.call('POST', `/jobs/${done}/${verb}`, body);
  const killed = await site.job();
  await site.call('POST', `/jobs/${killed}/kill`, { reason: 'not needed' });

  const of = (jobId: string) => (type: string, status: string, data: unknown) => ({
    jobId,
    jobName: 'resize',
    spaceId: 'demo',
    type,
    status,
    data,
  });
  const ofDone = of(done);
  const ofKilled = of(killed);
  expect(await messages(client, 13)).toEqual([
    { spaceId: 'demo', type: 'init' },
    ofDone('created', 'pending', null),
    ofDone('delivered', 'delivered', null),
    ofDone('acked', 'running', null),
    ofDone('progress', 'running', report),
    ofDone('checkpoint', 'running', [7]),
    ofDone('event', 'running', 'half-way'),
    ofDone('retried', 'pending', { error: 'disk full', attemptNumber: 1 }),
    ofDone('delivered', 'delivered', null),
    ofDone('acked', 'running', null),
    ofDone('completed', 'completed', { bytes: 51234 }),
    ofKilled('created', 'pending', null),
    ofKilled('killed', 'killed', { reason: 'not needed' }),
  ]);
});

it('wscat prints all events of a job with the scope jobs:read, and ends with the job', async () => {
  const id = await site.job();
  const client = watch(`/${id}?token=${encodeURIComponent(await site.key('jobs:read'))}`);
  expect(await messages(client, 1)).toEqual([{ jobId: id, type: 'init', status: 'pending' }]);
  await site.call('POST', `/jobs/${id}/kill`, { reason: 'not needed' });
  expect((await messages(client, 2))[1]).toEqual({
    jobId: id,
    jobName: 'resize',
    type: 'killed',
    status: 'killed',
    data: { reason: 'not needed' },
  });
  await until(() => client.hasEnded());
});

it('the gateway ignores every message that wscat sends', async () => {
  const id = await site.job();
  const client = watch(`/${id}`);
  await messages(client, 1);
  client.say('{"type": "kill"}');
  await site.call('POST', `/jobs/${id}/claim`);
  await site.call('POST', `/jobs/${id}/ack`);
  await site.call('POST', `/jobs/${id}/progress`, { percent: 1, message: 'Begun' });
  expect((await messages(client, 2))[1]).toEqual({
    jobId: id,
    type: 'progress',
    data: { percent: 1, message: 'Begun' },
  });
});

it.each([
  ['a space without a token', () => '/spaces/demo', 401],
  [
    'a space with a key that may only read progress',
    async () => `/spaces/demo?token=${await site.key('jobs:read:progress')}`,
    403,
  ],
  ['a space of another key', async () => `/spaces/other?token=${await site.key('jobs:read')}`, 403],
  ['a job that does not exist', () => '/nosuchjob', 404],
])('wscat is refused for %s', async (_, path, status) => {
  const client = watch(await path());
  await until(() => client.hasEnded());
  expect(client.errors()).toBe(`error: Unexpected server response: ${status}\n`);
});
