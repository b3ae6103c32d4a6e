import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { type Behaviour, raw, rawThenHang, reset, respondWith } from '../support/behaviours.js';
import {
  type Attempt,
  attemptsOf,
  attemptsTo,
  failed,
  historyOf,
  ofEach,
  readJob,
  sendLaterCallback,
  sent,
  settled,
} from '../support/callbacks.js';
import { createJob, jobIn } from '../support/jobs.js';
import { startReceiver, withReceiver } from '../support/receiver.js';
import { makeDue } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

/** A service that retries a callback once, after 50 ms. */
const service = withService();
const receiver = withReceiver();

describe('the callbacks for what happens to a job', () => {
  const BODIES: Record<string, object> = { complete: { result: 1 }, fail: { error: 'x' } };

  /** Call an endpoint of a job, whether or not that succeeds; `lapse` lets its window pass. */
  async function step(id: string, verb: string) {
    if (verb !== 'lapse') return service.call('POST', `/jobs/${id}/${verb}`, { body: BODIES[verb] });
    const { status } = await readJob(service, id);
    await makeDue(service, id);
    return until(async () => (await readJob(service, id)).status !== status);
  }

  /** Callbacks that are sent after these steps of a job that has one retry, and its status then. */
  const WAYS: [sends: string[], steps: string, status: string][] = [
    [[], '', 'pending'],
    [[], 'claim', 'delivered'],
    [[], 'claim lapse', 'pending'],
    [[], 'claim ack', 'running'],
    [[], 'claim ack fail', 'pending'],
    [[], 'claim ack lapse', 'pending'],
    [[], 'kill', 'killed'],
    [[], 'claim kill', 'killed'],
    [[], 'claim ack kill kill complete', 'killed'],
    [['completed'], 'claim ack complete', 'completed'],
    [['completed'], 'claim ack complete complete fail kill', 'completed'],
    [['completed'], 'claim ack fail claim ack complete', 'completed'],
    [['dead'], 'claim ack fail claim ack fail', 'dead'],
    [['dead'], 'claim ack lapse claim ack lapse', 'dead'],
  ];

  it.concurrent.each(WAYS)(
    'callbacks with the statuses %j are sent after the steps "%s", which make the job %s',
    async (sends, steps, status) => {
      const spaceId = `after-${steps.replaceAll(' ', '-')}`;
      const callbackUrl = receiver.script(`/${spaceId}`, respondWith(204));
      const { id } = await createJob(service, spaceId, { callbackUrl, maxRetries: 1 });
      for (const verb of steps.split(' ').filter(Boolean)) await step(id, verb);
      await sendLaterCallback(service, receiver, spaceId);
      const job = sends.length > 0 ? await settled(service, id) : await readJob(service, id);

      const statuses = receiver.requestsTo(`/${spaceId}`).map(({ body }) => JSON.parse(body.toString()).status);
      expect({ status: job.status, sends: statuses }).toEqual({ status, sends });
      expect(attemptsOf(job)).toEqual(historyOf(callbackUrl, sends.length > 0 ? [sent(204)] : []));
    },
  );

  it.concurrent('no callback is sent for a job without a callbackUrl', async () => {
    const id = await jobIn(service, 'completed', 'none');
    await sendLaterCallback(service, receiver, 'none');
    expect(attemptsOf(await readJob(service, id))).toEqual([]);
  });
});

describe('the response to a callback', () => {
  /** Send a callback to a receiver with these behaviors, and expect these attempts, each of which is one POST. */
  async function expectAttempts(path: string, behaviours: Behaviour[], attempts: Attempt[]) {
    const url = receiver.script(path, ...behaviours);
    expect(await attemptsTo(service, url)).toEqual(historyOf(url, attempts));
    expect(receiver.requestsTo(path).map(({ method }) => method)).toEqual(attempts.map(() => 'POST'));
  }

  // test/scheduler/callback-attempts.test.ts has every status and every kind of failure.
  it.concurrent.each([200, 204, 299, 304, 400, 404, 410, 499])(
    'a response with the status %i settles a callback',
    async (status) => {
      await expectAttempts(`/final/${status}`, [respondWith(status)], [sent(status)]);
    },
  );

  it.concurrent.each([408, 425, 429, 500, 503, 599])(
    'a callback is retried after each delay if the response has the status %i',
    async (status) => {
      const attempts = ofEach(2, (attempt, willRetry) => sent(status, attempt, willRetry));
      await expectAttempts(`/retried/${status}`, [respondWith(status)], attempts);
    },
  );

  it.concurrent.each([
    ['not HTTP', raw('garbage\r\n\r\n'), expect.stringMatching(/^response is not valid HTTP \(HPE_[A-Z_]+\)$/)],
    ['cut off', reset, 'connection was closed before a response'],
  ])('a callback with a response that is %s is retried after each delay', async (what, behaviour, error) => {
    const attempts = ofEach(2, (attempt, willRetry) => failed(error, attempt, willRetry));
    await expectAttempts(`/failed/${encodeURIComponent(what)}`, [behaviour], attempts);
  });

  it.concurrent('a callback is retried until a response is final', async () => {
    await expectAttempts('/then/200', [respondWith(500), respondWith(200)], [sent(500, 1, true), sent(200, 2)]);
    await expectAttempts('/then/410', [reset, respondWith(410)], [failed(expect.any(String), 1, true), sent(410, 2)]);
    await expectAttempts('/then/429', [respondWith(503), respondWith(429)], [sent(503, 1, true), sent(429, 2)]);
  });

  it.concurrent.each([301, 302, 303, 307, 308])('a callback does not follow a redirect with %i', async (status) => {
    const other = await startReceiver();
    const location = other.script(`/${status}`, respondWith(200));
    await expectAttempts(`/redirect/${status}`, [respondWith(status, { location })], [sent(status)]);
    expect(other.connections()).toBe(0);
    await other.close();
  });

  it.concurrent('a callback is not retried if its response switches protocols', async () => {
    const change = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
    await expectAttempts('/101/closed', [raw(change)], [sent(101)]);
    await expectAttempts('/101/open', [rawThenHang(change)], [sent(101)]);
  });

  it.concurrent('a callback is retried after the Retry-After of a 429, and never earlier', async () => {
    let notBefore = Number.POSITIVE_INFINITY;
    const later: Behaviour = (response) => {
      notBefore = Date.now() + 1_000;
      response.writeHead(429, { 'retry-after': '1' }).end();
    };
    await expectAttempts('/retry-after', [later, respondWith(204)], [sent(429, 1, true), sent(204, 2)]);
    expect(receiver.requestsTo('/retry-after')[1]?.at).toBeGreaterThanOrEqual(notBefore);
  });

  it.concurrent('a callback is not retried because of the Retry-After of a final or last response', async () => {
    await expectAttempts('/final-after', [respondWith(404, { 'retry-after': '0' })], [sent(404)]);
    const attempts = [sent(500, 1, true), sent(429, 2)];
    await expectAttempts('/last-after', [respondWith(500), respondWith(429, { 'retry-after': '0' })], attempts);
  });
});

it('a job shows each attempt at its callback as an event, and is otherwise unchanged', async () => {
  const waiting: ServerResponse[] = [];
  const callbackUrl = receiver.script('/waiting', (response) => waiting.push(response));
  const id = await jobIn(service, 'completed', 'history', { callbackUrl });
  await until(() => waiting.length === 1);
  const { events: eventsBefore, ...before } = await readJob(service, id);
  waiting[0]?.writeHead(500).end();
  await until(() => waiting.length === 2);
  waiting[1]?.writeHead(500).end();
  const { events, ...after } = await settled(service, id);

  expect(after).toEqual(before);
  expect(before.updatedAt).toBe(before.completedAt);
  const typesBefore = eventsBefore.map(({ type }: { type: string }) => type);
  expect(typesBefore).toEqual(['created', 'delivered', 'acked', 'completed']);
  const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const common = { jobId: id, spaceId: 'history', createdAt };
  const attempts = historyOf(callbackUrl, [sent(500, 1, true), sent(500, 2)]);
  expect(events).toEqual([
    ...eventsBefore,
    ...attempts.map((event, i) => ({ id: `${id}.${5 + i}`, ...common, ...event })),
  ]);
});

it('a callback is pending exactly until the attempt that settles it', async () => {
  const waiting: ServerResponse[] = [];
  const callbackUrl = receiver.script('/pending', (response) => waiting.push(response));
  const id = await jobIn(service, 'completed', 'pending', { callbackUrl });
  const due = () => service.redis.zscore(service.store.keys.callbacks(id.slice(0, 2)), id);
  await until(() => waiting.length === 1);
  expect(await due()).toMatch(/^\d+$/);
  waiting[0]?.writeHead(204).end();
  await settled(service, id);
  expect(await due()).toBeNull();
});

it('only the history of a job shows attempts at its callback; streams do not', async () => {
  const stream = await StreamClient.open(service.url, `/spaces/streams?token=${ADMIN_KEY}`);
  const callbackUrl = receiver.script('/streams', respondWith(204));
  const id = await jobIn(service, 'completed', 'streams', { callbackUrl });
  await settled(service, id);
  await jobIn(service, 'killed', 'streams');
  await stream.next('killed');
  expect(stream.types()).toEqual(['init', 'created', 'delivered', 'acked', 'completed', 'created', 'killed']);
  await stream.close();
});

const ENDS = ['completed', 'dead', 'killed'] as const;
const CHOICES: (readonly (typeof ENDS)[number][] | undefined)[] = [undefined, ['killed'], ['dead', 'killed'], ENDS];
const ROWS = CHOICES.flatMap((callbackOn) =>
  ENDS.map((end) => ({ callbackOn, end, isSent: (callbackOn ?? ['completed', 'dead']).includes(end) })),
);
const RESULTS = { completed: { answer: 42 }, dead: { error: 'broken' }, killed: { reason: 'stop' } };

it.each(ROWS)(
  'callbackOn $callbackOn, $end: sent is $isSent, and so is redelivery',
  async ({ callbackOn, end, isSent }) => {
    const path = `/${callbackOn}/${end}`;
    const fields = { callbackUrl: receiver.script(path), ...(callbackOn && { callbackOn }) };
    const id = await jobIn(service, end, 'cbon-ends', fields);
    if (isSent) {
      await until(async () => attemptsOf(await readJob(service, id)).length === 1);
      const body = JSON.parse(String(receiver.requestsTo(path)[0]?.body));
      expect(body).toMatchObject({ jobId: id, status: end, result: RESULTS[end] });
    }
    const { status, body } = await service.call('POST', `/jobs/${id}/callback/redeliver`);
    expect({ status, code: body.code }).toEqual(isSent ? { status: 200 } : { status: 409, code: 'NO_CALLBACK' });
    if (isSent) await until(() => receiver.requestsTo(path).length === 2);
    else expect(receiver.requestsTo(path)).toEqual([]);
  },
);

it('shows callbackOn only if it is not the default, always in the same order', async () => {
  const shown = async (callbackOn: string[]) =>
    readJob(service, await jobIn(service, 'scheduled', 'cbon-shown', { callbackOn })) as Promise<{
      callbackOn?: string[];
    }>;
  expect((await shown(['dead', 'completed', 'dead'])).callbackOn).toBeUndefined();
  expect((await shown(['killed', 'completed'])).callbackOn).toEqual(['completed', 'killed']);
});
