import { describe, expect, it } from '@jest/globals';
import { respondWith } from '../support/behaviours.js';
import { settled } from '../support/callbacks.js';
import { during } from '../support/during.js';
import { createJob, jobIn, step } from '../support/jobs.js';
import { runApp } from '../support/process.js';
import { RawClient } from '../support/raw-client.js';
import { withReceiver } from '../support/receiver.js';
import { startService, withService } from '../support/service.js';
import { ADMIN_KEY, sharedService } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

// What clients of emit.run rely on when they create jobs and keys, with COMPAT=emit and without.

const plain = withService();
const emit = withService({ COMPAT: 'emit', CALLBACK_ALLOW_PRIVATE: 'true' });
/** A service on the same jobs, in the usual mode. */
const usual = during(
  () => startService({ KEY_PREFIX: emit.prefix }, { app: 'api', check: false }),
  (service) => service.stop(),
);
const receiver = withReceiver();

const ALL = ['completed', 'dead', 'killed'];

it.each(['api', 'gateway', 'scheduler', 'standalone'])(
  'the %s refuses to start with an unknown value of COMPAT',
  async (app) => {
    const env = { ADMIN_API_KEY: ADMIN_KEY, REDIS_URL: sharedService().redisUrl, KEY_PREFIX: plain.prefix, PORT: '0' };
    const running = runApp(app, { ...env, COMPAT: 'Emit' });
    expect(await running.ended()).toBe(1);
    expect(running.output()).toBe('Invalid configuration:\n  COMPAT must be emit or empty, not Emit\n');
  },
);

it('gives a key with jobs:write the five scopes that it includes', async () => {
  const scopes = ['jobs:fail', 'jobs:write', 'jobs:poll'];
  const { status, body } = await plain.call('POST', '/keys', { body: { name: 'writer', scopes } });
  const granted = ['jobs:fail', 'jobs:ack', 'jobs:progress', 'jobs:event', 'jobs:complete', 'jobs:poll'];
  expect({ status, scopes: body.scopes }).toEqual({ status: 201, scopes: granted });
  const keys: { id: string; scopes: string[] }[] = (await plain.call('GET', '/keys')).body;
  expect(keys.find(({ id }) => id === body.id)?.scopes).toEqual(granted);

  const id = await jobIn(plain, 'delivered', 'written');
  const { key } = body;
  expect((await plain.call('POST', `/jobs/${id}/ack`, { key })).status).toBe(200);
  expect(await plain.call('POST', `/jobs/${id}/keepalive`, { key })).toMatchObject({
    status: 403,
    body: { error: 'Missing required scope: jobs:keepalive', code: 'FORBIDDEN' },
  });
});

it('accepts a null scheduledFor as absent, and refuses a value that is not a time', async () => {
  const create = (scheduledFor: unknown) =>
    plain.call('POST', '/spaces/times/jobs', { body: { name: 'work', scheduledFor } });
  const { status, body } = await create(null);
  expect([status, body.status, 'scheduledFor' in body]).toEqual([201, 'pending', false]);
  const rule = 'scheduledFor must be an ISO 8601 timestamp with a time zone';
  for (const wrong of ['tomorrow', '', '2030-01-01', '2030-01-01T00:00:00', 1_900_000_000_000, true, {}]) {
    const refused = await create(wrong);
    expect([wrong, refused.status, refused.body]).toEqual([wrong, 400, { error: rule, code: 'INVALID_REQUEST' }]);
  }
});

it('COMPAT=emit sends a callback for a killed job by default, with the reason', async () => {
  const callbackUrl = receiver.script('/killed', respondWith(204));
  const { id } = await createJob(emit, 'ends', { callbackUrl });
  await step(emit, id, 'kill', { reason: 'stop' });
  const job = await settled(emit, id);
  expect(job.callbackOn).toEqual(ALL);
  expect(job.events.at(-1)).toMatchObject({ type: 'callback_sent', data: { attempt: 1, retryAttempt: 0 } });
  const [request] = receiver.requestsTo('/killed');
  expect(JSON.parse(String(request?.body))).toMatchObject({ status: 'killed', result: { reason: 'stop' } });
});

it('COMPAT=emit sends no callback for a killed job if the create lists other outcomes', async () => {
  const { body } = await emit.call('POST', '/spaces/ends/jobs', { body: { name: 'a', callbackOn: ['dead'] } });
  expect(body.callbackOn).toEqual(['dead']);
});

it('sends no callback for a killed job by default without COMPAT=emit', async () => {
  expect(await createJob(usual, 'ends')).not.toHaveProperty('callbackOn');
});

describe('an idempotency key', () => {
  const headers = { 'idempotency-key': 'in both modes' };
  const create = (service: typeof emit, callbackOn?: string[]) =>
    service.call('POST', '/spaces/keyed/jobs', { body: { name: 'work', callbackOn }, headers });

  it('an idempotency key names the same job with and without COMPAT=emit', async () => {
    const first = await create(usual);
    const again = await create(emit);
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([201, 201, 'true']);
    expect(again.body).toMatchObject({ id: first.body.id, realtimeUrl: expect.stringContaining(first.body.id) });
    expect((await create(emit, ALL)).body.code).toBe('IDEMPOTENCY_MISMATCH');
  });
});

it('COMPAT=emit requeues an unacked job after its timeoutSeconds, and explains that to a late ack', async () => {
  const id = await jobIn(emit, 'delivered', 'windows', { timeoutSeconds: 0.2 });
  const isBack = async () => (await emit.call('GET', `/jobs/${id}`)).body.status === 'pending';
  await until(isBack);
  expect((await emit.call('POST', `/jobs/${id}/ack`)).body.hint).toBe(
    'Job was not acked within 0.2 s of its delivery and is pending again',
  );
});

it('COMPAT=emit names the delivery window in the OpenAPI document', async () => {
  const { info } = (await emit.call('GET', '/openapi.json')).body;
  expect(info.description).toContain('must be acked | `timeoutSeconds` of the job |');
});

describe('realtimeUrl', () => {
  const create = async (headers: Record<string, string>) =>
    (await emit.call('POST', '/spaces/urls/jobs', { body: { name: 'work' }, headers })).body;

  it('realtimeUrl is the URL of the stream of a job that was just created', async () => {
    const { id, realtimeUrl } = await create({});
    expect(realtimeUrl).toBe(`${emit.url.replace('http', 'ws')}/api/v1/realtime/${id}`);
    const client = await StreamClient.open(
      realtimeUrl.replace(/^ws(.*)\/api\/.*/, 'http$1'),
      `/${id}?token=${ADMIN_KEY}`,
    );
    expect(client.messages[0]).toMatchObject({ jobId: id, type: 'init' });
    await client.close();
  });

  it.each([
    ['wss://jobs.example.com', 'https'],
    ['wss://jobs.example.com', 'HTTPS, http'],
    ['ws://jobs.example.com', 'http, https'],
    ['ws://jobs.example.com', 'nonsense'],
    ['wss://jobs.example.com:8443', 'https'],
    ['wss://[2001:db8::1]:8443', 'https'],
  ])('realtimeUrl starts with %s when a proxy forwards that host and %s', async (base, proto) => {
    const host = base.replace(/^wss?:\/\//, '');
    const { id, realtimeUrl } = await create({ host, 'x-forwarded-proto': proto });
    expect(realtimeUrl).toBe(`${base}/api/v1/realtime/${id}`);
  });

  it('realtimeUrl is only a path for a client that names no host or an invalid one', async () => {
    const body = '{"name":"work"}';
    const head = `x-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`;
    for (const request of ['HTTP/1.0\r\n', 'HTTP/1.1\r\nHost: a/b?c\r\nConnection: close\r\n']) {
      const client = new RawClient(emit.url);
      client.socket.write(`POST /api/v1/spaces/urls/jobs ${request}${head}\r\n${body}`);
      const [response] = await client.receive(1);
      client.socket.destroy();
      const { id, realtimeUrl } = JSON.parse(response?.text ?? '{}');
      expect(realtimeUrl).toBe(`/api/v1/realtime/${id}`);
    }
  });

  it('realtimeUrl is returned only by a create, even one that returns an existing job', async () => {
    const unique = { key: 'one' };
    const { id } = await createJob(emit, 'urls', { unique });
    const { key } = await emit.key(['jobs:create']);
    for (const options of [{}, { key }]) {
      const { status, body } = await emit.call('POST', '/spaces/urls/jobs', {
        body: { name: 'work', unique },
        ...options,
      });
      expect([status, body]).toMatchObject([200, { id, realtimeUrl: expect.stringContaining(id) }]);
    }
    expect((await emit.call('GET', `/jobs/${id}`)).body).not.toHaveProperty('realtimeUrl');
    expect((await emit.call('GET', '/spaces/urls/jobs')).body[0]).not.toHaveProperty('realtimeUrl');
  });

  it('realtimeUrl is absent without COMPAT=emit', async () => {
    expect(await createJob(usual, 'urls')).not.toHaveProperty('realtimeUrl');
  });
});
