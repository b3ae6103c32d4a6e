import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type net from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { RawClient, withRaw } from '../support/raw-client.js';
import { startService, withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { idsOf, inTime, poll, startApi, untilWaiting, type WaitingApi, waitingCalls, withApi } from './api.js';

const service = withService();
const large = withRedis();
const api = withApi(service, { env: { WAITERS_PER_PROCESS: '3', MAX_IN_FLIGHT: '3' } });

let spaces = 0;
const newSpace = () => `limits-${++spaces}-${process.pid}`;

/** Write a poll to a connection. */
function writePoll({ socket }: RawClient, spaceId: string, fields: object): void {
  const body = JSON.stringify(fields);
  const head = `Host: x\r\nx-api-key: ${ADMIN_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.write(`POST /api/v1/spaces/${spaceId}/jobs/poll HTTP/1.1\r\n${head}\r\n\r\n${body}`);
}

/** Write waiting polls to a connection of their own, which the test can close. */
function pollOn({ url }: Pick<WaitingApi, 'url'>, spaceId: string, times = 1, count = 1): RawClient {
  const raw = new RawClient(url);
  for (let i = 0; i < times; i++) writePoll(raw, spaceId, { waitSeconds: 20, count });
  return raw;
}

const open: RawClient[] = [];
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await untilWaiting(api, 0);
});

it('refuses only calls that would wait while the maximum number of calls waits', async () => {
  const spaceId = newSpace();
  const id = await jobIn(service, 'running', spaceId);
  const read = () => api.call('GET', `/jobs/${id}?waitSeconds=20`);
  const waiting: ReturnType<typeof read>[] = [];
  for (const call of [() => poll(api, spaceId), read, read]) {
    waiting.push(call()); // Calls that do not wait yet count towards MAX_IN_FLIGHT.
    await untilWaiting(api, waiting.length);
  }
  const calls: [string, string, object?][] = [
    ['POST', `/spaces/${spaceId}/jobs/poll`, { waitSeconds: 20 }],
    ['GET', `/jobs/${id}?waitSeconds=20`],
    ['POST', `/spaces/${spaceId}-other/jobs?waitSeconds=20`, { name: 'work' }],
  ];
  for (const [method, path, body] of calls) {
    const response = await api.call(method, path, { body });
    expect({ status: response.status, code: response.body.code }).toEqual({ status: 429, code: 'TOO_MANY_WAITERS' });
    expect(response.headers['retry-after']).toBe('1');
  }
  expect((await service.call('GET', `/spaces/${spaceId}-other/stats`)).body.jobs.total).toBe(0);
  const pending = await createJob(service, `${spaceId}-other`);
  expect(idsOf(await poll(api, `${spaceId}-other`))).toEqual([pending.id]);
  await step(service, id, 'complete');
  await createJob(service, spaceId);
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

it('a lone tenant can use all waiting places; while others wait, it gets at most half', async () => {
  const [noisy, quiet] = [newSpace(), newSpace()];
  const keys = await Promise.all(
    [1, 2].map(async () => {
      const body = { name: 'worker', scopes: ['jobs:poll'], spaceId: noisy };
      return (await service.call('POST', '/keys', { body })).body.key as string;
    }),
  );
  const pollAs = (n: number) =>
    api.call('POST', `/spaces/${noisy}/jobs/poll`, { key: keys[n % 2] as string, body: { waitSeconds: 20 } });
  const first = pollAs(0);
  await untilWaiting(api, 1);
  const others = [pollAs(1), pollAs(0)];
  await untilWaiting(api, 3);

  const other = poll(api, quiet);
  // Its oldest call ends early, and its other keys get no place for a further one.
  expect(idsOf(await first)).toEqual([]);
  expect((await pollAs(1)).body.code).toBe('TOO_MANY_WAITERS');

  await createJob(service, quiet);
  expect(idsOf(await other)).toHaveLength(1);
  for (let n = 0; n < 2; n++) await createJob(service, noisy);
  expect((await Promise.all(others)).flatMap(idsOf)).toHaveLength(2);
});

it('does not count waiting calls as requests in flight', async () => {
  const spaceId = newSpace();
  open.push(pollOn(api, spaceId), pollOn(api, spaceId), pollOn(api, spaceId));
  await untilWaiting(api, 3);
  expect((await api.call('GET', `/spaces/${spaceId}/stats`)).status).toBe(200);
  const { text } = await api.http.call('GET', '/metrics');
  expect(text).toMatch(/^yardmaster_http_requests_in_flight 0$/m);
});

it('excludes the waiting time of a call from the duration of its request', async () => {
  const spaceId = newSpace();
  const sums = async () => {
    const { text } = await api.http.call('GET', '/metrics');
    return [...text.matchAll(/duration_seconds_sum\{method="POST",route="[^"]*poll",status="(\d+)"\} (\S+)/g)].map(
      ([, status, sum]) => [status, Number(sum)],
    );
  };
  await poll(api, spaceId, { waitSeconds: 3 });
  const [[, seconds] = []] = (await sums()).filter(([status]) => status === '200');
  expect(seconds).toBeLessThan(3);
});

it('forgets waiting calls whose connection closes, and each of several on one connection', async () => {
  const spaceId = newSpace();
  await inTime(api, async () => {
    const raw = pollOn(api, spaceId, 2);
    open.push(raw);
    await untilWaiting(api, 3);
    raw.socket.destroy();
    await untilWaiting(api, 1);
  });
  const { id } = await createJob(service, spaceId);
  expect(idsOf(await poll(api, spaceId))).toEqual([id]);
});

it('responds to waiting polls of one connection in order', async () => {
  const spaceId = newSpace();
  const raw = pollOn(api, spaceId, 2);
  open.push(raw);
  await untilWaiting(api, 2);
  const created = [await createJob(service, spaceId), await createJob(service, spaceId)];
  const responses = await raw.receive(2);
  expect(responses.map(({ text }) => JSON.parse(text).jobs[0].id)).toEqual(created.map(({ id }) => id));
});

it('immediately releases jobs that it has claimed for a closed connection', async () => {
  const spaceId = newSpace();
  const { redis } = api.context.store;
  const raw = pollOn(api, spaceId);
  open.push(raw);
  await untilWaiting(api, 1);
  const original = redis.evalsha.bind(redis) as (...args: unknown[]) => Promise<unknown>;
  let isClosed = false;
  redis.evalsha = (async (...args: unknown[]) => {
    const reply = await original(...args);
    if (isClosed || !JSON.stringify(reply).includes(spaceId)) return reply; // Not of the poll that claims the job.
    isClosed = true;
    raw.socket.destroy();
    await untilWaiting(api, 0);
    return reply;
  }) as never;
  const { id } = await createJob(service, spaceId);
  const statusOf = async () => (await service.call('GET', `/jobs/${id}`)).body;
  await until(async () => isClosed && (await statusOf()).status === 'pending');
  redis.evalsha = original as never;
  const { events } = await statusOf();
  expect(events.map(({ type }: { type: string }) => type)).toEqual(['created', 'delivered', 'released']);
  expect(idsOf(await poll(api, spaceId))).toEqual([id]);
});

it('responds with UNAVAILABLE to a waiting poll with autoAck once the reply with its jobs is lost', async () => {
  const spaceId = newSpace();
  const { redis } = api.context.store;
  const response = poll(api, spaceId, { autoAck: true });
  await untilWaiting(api, 1);
  const original = redis.evalsha.bind(redis) as (...args: unknown[]) => Promise<unknown>;
  redis.evalsha = (async (...args: unknown[]) => {
    const reply = await original(...args);
    if (JSON.stringify(reply)?.includes('the lost reply')) throw new Error('Connection is closed.');
    return reply;
  }) as never;
  const { id } = await createJob(service, spaceId, { payload: { of: 'the lost reply' } });
  const { status, body } = await response;
  redis.evalsha = original as never;
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'UNAVAILABLE' });
  expect((await service.call('GET', `/jobs/${id}`)).body.status).toBe('running');
});

it.each([{ autoAck: true }, { ackWithinSeconds: 3_600 }, { settle: [], workerId: 'w' }])(
  'releases the jobs of a poll with %j if its connection closes before the response is sent',
  async (fields) => {
    const spaceId = newSpace();
    const { id } = await createJob(service, spaceId);
    const raw = pollOn(api, newSpace()); // The next response waits behind this one.
    open.push(raw);
    await untilWaiting(api, 1);
    writePoll(raw, spaceId, fields);
    const read = async () => (await service.call('GET', `/jobs/${id}`)).body;
    await until(async () => (await read()).status !== 'pending');
    raw.socket.destroy();
    await until(async () => (await read()).status === 'pending');
    expect(await read()).toMatchObject({
      attemptNumber: 0,
      events: expect.arrayContaining([expect.objectContaining({ type: 'released' })]),
    });
  },
);

it('releases the jobs of a poll without new fields if its connection is closed before they are claimed', async () => {
  const spaceId = newSpace();
  const { id } = await createJob(service, spaceId);
  const there: net.Socket[] = [];
  const see = (message: unknown) => there.push((message as { socket: net.Socket }).socket);
  subscribe('net.server.socket', see);
  const raw = new RawClient(api.url);
  open.push(raw);
  const { redis } = api.context.store;
  const original = redis.evalsha.bind(redis) as (...args: unknown[]) => Promise<unknown>;
  redis.evalsha = (async (...args: unknown[]) => {
    redis.evalsha = original as never;
    raw.socket.destroy();
    await until(() => there.some(({ destroyed }) => destroyed));
    return original(...args);
  }) as never;
  writePoll(raw, spaceId, {});
  await until(async () => (await service.call('GET', `/jobs/${id}`)).body.events.at(-1).type === 'released');
  unsubscribe('net.server.socket', see);
});

it('immediately releases jobs when the connection closes before the whole response is sent', async () => {
  // Without the check at the end, for which this process would read 8 MB at once: redis-parser then has a timer.
  const own = await startService({}, { redis: large, app: 'api', check: false });
  const spaceId = newSpace();
  const payload = { text: 'x'.repeat(250_000) };
  const created = await Promise.all(Array.from({ length: 50 }, () => createJob(own, spaceId, { payload })));
  const raw = pollOn(own, spaceId, 1, 50);
  open.push(raw);
  raw.socket.pause(); // The system buffers only a part of 12 MB.
  const statuses = async () => (await own.call('GET', `/spaces/${spaceId}/stats`)).body.jobs;
  await until(async () => (await statuses()).delivered === created.length);
  raw.socket.resetAndDestroy();
  await until(async () => (await statuses()).pending === created.length);
  await own.stop();
});

it('responds to all waiting calls when the process stops, and lets no new call wait', async () => {
  const spaceId = newSpace();
  const id = await jobIn(service, 'running', spaceId);
  const stopped = await startApi(service);
  const waiting = [
    poll(stopped, spaceId),
    stopped.call('GET', `/jobs/${id}?waitSeconds=20`),
    stopped.call('POST', `/spaces/${spaceId}-other/jobs?waitSeconds=20`, { body: { name: 'work' } }),
  ];
  await untilWaiting(stopped, 3);
  stopped.context.announceStop();
  const [polled, read, created] = await Promise.all(waiting);
  expect(polled).toMatchObject({ status: 200, body: { jobs: [] }, headers: { connection: 'close' } });
  expect(read).toMatchObject({ status: 200, body: { id, status: 'running' } });
  expect(created).toMatchObject({ status: 201, body: { status: 'pending' } });
  expect((await poll(stopped, spaceId)).body).toEqual({ jobs: [] });
  expect((await stopped.call('GET', `/jobs/${id}?waitSeconds=20`)).body.status).toBe('running');
  expect(await waitingCalls(stopped)).toBe(0);
  await stopped.stop();
});

it('responds to waiting calls on SIGTERM, and exits', async () => {
  const stopped = await startService({ KEY_PREFIX: service.prefix }, { app: 'api', isOwn: true, check: false });
  const waiting = Array.from({ length: 20 }, () => poll(stopped, newSpace()));
  await untilWaiting(stopped, 20);
  stopped.process?.child.kill('SIGTERM');
  expect((await Promise.all(waiting)).map(({ body }) => body)).toEqual(Array(20).fill({ jobs: [] }));
  await stopped.stop();
});

it('returns no job to a key that was revoked while its call waited', async () => {
  const spaceId = newSpace();
  const { id: keyId, key } = await service.key(['jobs:poll']);
  const options = { key, body: { waitSeconds: 20 } };
  const waiting = api.call('POST', `/spaces/${spaceId}/jobs/poll`, options);
  await untilWaiting(api, 1);
  await service.call('DELETE', `/keys/${keyId}`);
  await until(() => api.context.authenticator.isEnded({ keyId, rotation: 0 }));
  const { id } = await createJob(service, spaceId);
  expect((await waiting).status).toBe(401);
  expect((await service.call('GET', `/jobs/${id}`)).body.status).toBe('pending');
});

it('keeps a connection open for other calls after a poll has waited on it', async () => {
  await withRaw(api.url, async (raw) => {
    const spaceId = newSpace();
    const body = JSON.stringify({ waitSeconds: 0.01 });
    const head = `Host: x\r\nx-api-key: ${ADMIN_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    for (const n of [1, 2]) {
      raw.socket.write(`POST /api/v1/spaces/${spaceId}/jobs/poll HTTP/1.1\r\n${head}\r\n\r\n${body}`);
      expect((await raw.receive(n)).map(({ status }) => status)).toEqual(Array(n).fill(200));
    }
  });
});
