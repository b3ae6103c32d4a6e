import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { AUDIT_STREAMS, partitionOf } from '@yardmaster/store';
import type { CallOptions, HttpResponse } from '../support/http.js';
import { tokenOf } from '../support/job-state.js';
import { createJob, jobIn } from '../support/jobs.js';
import { Contract, type Part } from '../support/openapi.js';
import { withRedis } from '../support/own-redis.js';
import { sendRaw } from '../support/raw-client.js';
import { startService, withService } from '../support/service.js';
import { until } from '../support/until.js';
import { untilWaiting } from '../waiting/api.js';
import {
  askingRedis,
  callEndpoint,
  ENDPOINTS,
  type Endpoint,
  endpointOf,
  pathOf,
  type Target,
  targetFor,
  UNKNOWN,
} from './endpoints.js';

// Every response of every endpoint is valid by the OpenAPI document, and every response of the document occurs here.
// Other tests check which response it must be.

const redis = withRedis();
const limits = { MAX_BODY_BYTES: '2048', MAX_BATCH_BYTES: '2048', MAX_LOG_WIRE_BYTES: '2048' };
// The stored data are not checked at the end, because a test damages them.
const service = withService(limits, { redis, app: 'api', check: false });
let contract: Contract;
beforeAll(async () => {
  contract = new Contract((await service.call('GET', '/openapi.json')).body);
});

/** Kinds of responses seen so far: `endpoint status code`. */
const seen = new Set<string>();

/** Check a response against the document. @param status what it must be */
function expectDocumented(endpoint: Endpoint, response: HttpResponse, status: unknown = expect.any(Number)): void {
  seen.add(`${endpoint.name} ${response.status} ${response.body?.code ?? ''}`);
  const faults = contract.faultsOf(contract.operation(endpoint), response);
  expect({ call: endpoint.name, status: response.status, faults }).toEqual({ call: endpoint.name, status, faults: [] });
}

async function expectResponse(endpoint: Endpoint, target: Target, options: CallOptions = {}, status?: number) {
  expectDocumented(endpoint, await callEndpoint(service, endpoint, target, options), status);
}

/** Return calls with each example of a body, in each type and encoding; one call without a body if the endpoint reads none. */
function examplesOf(endpoint: Endpoint): CallOptions[] {
  const { requestBody } = contract.operation(endpoint).operation;
  if (requestBody === undefined) return [{}];
  return Object.entries<Part>(requestBody.content).flatMap(([type, { examples }]) =>
    Object.values<Part>(examples).flatMap(({ value }) => {
      const raw = type === 'application/json' ? JSON.stringify(value) : value;
      const headers = { 'content-type': type };
      return [
        { raw, headers },
        { raw: gzipSync(raw), headers: { ...headers, 'content-encoding': 'gzip' } },
      ];
    }),
  );
}

it.each(ENDPOINTS)('responds to each example of $name with a success as documented', async (endpoint) => {
  // In a space of its own, because an example has a unique key.
  for (const [n, example] of examplesOf(endpoint).entries()) {
    const target = await targetFor(service, endpoint, `examples-${n}`);
    if (endpoint.name === 'Poll for Jobs') await createJob(service, target.spaceId, { name: 'resize' });
    await expectResponse(endpoint, target, example, endpoint.success ?? 200);
  }
});

it.each(STATUSES)('responds as documented to each call on a job that is %s', async (status) => {
  for (const endpoint of ENDPOINTS.filter(({ path }) => path.includes(':jobId'))) {
    const jobId = await jobIn(service, status, 'statuses', { payload: { deep: [{}, null, 1.5] } });
    await service.call('POST', `/jobs/${jobId}/logs`, { body: ['one', { message: 'two', level: 'error' }] });
    await expectResponse(endpoint, { ...UNKNOWN, jobId });
  }
  for (const endpoint of ['List Jobs', 'Get Space Statistics', 'List Spaces', 'Get Space History'].map(endpointOf))
    await expectResponse(endpoint, { ...UNKNOWN, spaceId: 'statuses' });
});

it('responds as documented to all reads of a job with every kind of event', async () => {
  const jobId = await jobIn(service, 'running', 'events', { maxRetries: 1 });
  const steps: [verb: string, body?: unknown][] = [
    ['progress', { percent: 1, message: 'x', subProgress: { a: { percent: 2 } } }],
    ['checkpoint', { row: 1 }],
    ['event', null],
    ['logs', [{ message: 'no color, x', level: 'warn' }]],
    ['fail', { error: { why: 'x' } }],
  ];
  for (const [verb, body] of steps) await service.call('POST', `/jobs/${jobId}/${verb}`, { body });
  const target = { ...UNKNOWN, spaceId: 'events', jobId };
  for (const name of [
    'Poll for Jobs',
    'Get Job',
    'Get Job Progress',
    'List Jobs',
    'Get Space Statistics',
    'List Spaces',
  ])
    await expectResponse(endpointOf(name), target, {}, 200);
  const logs = endpointOf('Get Job Logs');
  for (const query of ['limit=1', 'after=0', 'before=9', 'level=warn,error&level=info', 'q="no color" x'])
    await expectResponse({ ...logs, path: `${logs.path}?${encodeURI(query)}` }, target, {}, 200);
});

it('responds as documented to calls of a worker that has lost its job', async () => {
  const takesToken = (endpoint: Endpoint) =>
    JSON.stringify(contract.operation(endpoint).operation.parameters ?? []).includes('x-delivery-token');
  for (const status of ['running', 'completed'] as const) {
    for (const endpoint of ENDPOINTS.filter(takesToken)) {
      const target = { ...UNKNOWN, jobId: await jobIn(service, status, 'lost') };
      const token = await tokenOf(service.redis, service.store.keys.job(target.jobId), '0.0');
      for (const sent of [token, '8.9', 'none'])
        await expectResponse(endpoint, target, { headers: { 'x-delivery-token': sent } });
    }
  }
});

it('responds as documented to creates with a used idempotency key', async () => {
  const create = endpointOf('Create Job');
  const target = { ...UNKNOWN, spaceId: 'keyed' };
  const headers = { 'idempotency-key': 'k' };
  const body = { name: 'work', unique: { key: 'k' } };
  for (const status of [201, 201]) await expectResponse(create, target, { headers, body }, status);
  await expectResponse(create, target, { headers, body: { name: 'other' } }, 422);
  await expectResponse(create, target, { body }, 200);
  const { key } = await service.key(['jobs:create']);
  await expectResponse(create, target, { key, body }, 200);
  await expectResponse(create, target, { body: { name: 'work', unique: { key: 'k', onConflict: 'reject' } } }, 409);
  const ended = await jobIn(service, 'killed', 'keyed', { unique: { key: 'l' } });
  await createJob(service, 'keyed', { unique: { key: 'l' } });
  await expectResponse(endpointOf('Requeue Job'), { ...target, jobId: ended }, {}, 409);
});

it('responds as documented to operations with a used idempotency key, and to more operations than allowed', async () => {
  const start = endpointOf('Start Operation');
  const target = { ...UNKNOWN, spaceId: 'operations' };
  const headers = { 'idempotency-key': 'k' };
  for (const status of [202, 202]) await expectResponse(start, target, { headers }, status);
  await expectResponse(start, target, { headers, body: { action: 'delete', filter: { status: 'dead' } } }, 422);
  for (let i = 1; i < 10; i++) await expectResponse(start, target, {}, 202);
  await expectResponse(start, target, {}, 429);
});

/** Make a call without the Host header, which no HTTP library can. */
async function callWithoutHost(endpoint: Endpoint): Promise<HttpResponse> {
  const head = `${endpoint.method} /api/v1${pathOf(endpoint, UNKNOWN)} HTTP/1.1\r\nConnection: close\r\n\r\n`;
  const [response] = await sendRaw(service.url, head);
  return { ...(response as Omit<HttpResponse, 'body'>), body: JSON.parse(response?.text ?? '') };
}

/** Fields of several bodies, all of them wrong. */
const SEVERAL_FAULTS = { name: 5, maxRetries: -1, count: 0, percent: -1, message: 5, scopes: 5, logs: [{}, {}] };

it.each(ENDPOINTS)('refuses all kinds of invalid calls of $name as documented', async (endpoint) => {
  const { key } = await service.key([endpoint.name === 'Kill Job' ? 'jobs:ack' : 'jobs:kill']);
  await expectResponse(endpoint, UNKNOWN, { key: undefined }, 401);
  await expectResponse(endpoint, UNKNOWN, { key }, endpoint.scopes.length > 0 ? 403 : 200);
  const limited = await service.key(['jobs:read'], { limits: { perSecond: 0.01, burst: 1 } });
  await service.call('GET', '/keys/self', { key: limited.key });
  await expectResponse(endpoint, UNKNOWN, { key: limited.key }, 429);
  expectDocumented(endpoint, await callEndpoint(service, { ...endpoint, method: 'PUT' }, UNKNOWN), 405);
  await expectResponse(endpoint, UNKNOWN, { headers: { 'x-long': 'x'.repeat(20_000) } }, 431);
  expectDocumented(endpoint, await callWithoutHost(endpoint), 400);
  await expectResponse(endpoint, UNKNOWN);
  if (endpoint.body === undefined) return;
  await expectResponse(endpoint, UNKNOWN, { raw: '{' }, 400);
  await expectResponse(endpoint, UNKNOWN, { body: SEVERAL_FAULTS });
  await expectResponse(endpoint, UNKNOWN, { body: ['x'.repeat(2_048)] }, 413);
  await expectResponse(endpoint, UNKNOWN, { raw: 'x', headers: { 'content-type': 'text/plain' } }, 415);
});

it('responds as documented when Redis has no memory left', async () => {
  const targets = await Promise.all(ENDPOINTS.map((endpoint) => targetFor(service, endpoint, 'full')));
  await service.redis.config('SET', 'maxmemory', '1mb');
  for (const [n, endpoint] of ENDPOINTS.entries()) await expectResponse(endpoint, targets[n] as Target);
  await service.redis.config('SET', 'maxmemory', '0');
});

it('responds as documented in a space that is full of pending jobs', async () => {
  const space = { ...UNKNOWN, spaceId: 'limited' };
  const set = (body: object) => expectResponse(endpointOf('Change Space Settings'), space, { body }, 200);
  await set({ maxBytes: 1e9 });
  const target = { ...space, jobId: await jobIn(service, 'pending', 'limited') };
  for (const limit of [{ maxPending: 0 }, { maxPending: null, maxBytes: 0 }]) {
    await set(limit);
    for (const create of ['Create Job', 'Copy Job'].map(endpointOf)) await expectResponse(create, target, {}, 429);
  }
  await expectResponse(endpointOf('Append Logs'), target, {}, 429);
});

it('responds as documented when Redis might evict jobs', async () => {
  await service.redis.config('SET', 'maxmemory', '1gb');
  await service.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const unsafe = await startService({}, { redis, app: 'api', check: false }); // It checks Redis at its start.
  for (const create of ['Create Job', 'Copy Job'].map(endpointOf))
    expectDocumented(create, await callEndpoint(unsafe, create, UNKNOWN), 503);
  await unsafe.stop();
  await service.redis.config('SET', 'maxmemory-policy', 'noeviction');
  await service.redis.config('SET', 'maxmemory', '0');
  // The other process may have noticed as well.
  const create = endpointOf('Create Job');
  await until(async () => (await callEndpoint(service, create, UNKNOWN)).body.code !== 'STORAGE_UNSAFE');
});

it('responds as documented when keys in Redis are of another type', async () => {
  const { keys } = service.store;
  const { jobId, spaceId, operationId } = UNKNOWN;
  const ofOperations = [keys.operation(operationId), keys.operationsOf(spaceId)];
  const ofJobs = [keys.job(jobId), keys.jobs(spaceId), keys.queue(spaceId), keys.names(spaceId)];
  const minute = Math.floor(Date.now() / 60_000) * 60;
  const history = Array.from({ length: 10 }, (_, n) => `${keys.history(spaceId, 60)}${minute + 60 * n}`);
  const ofSpaces = [keys.paused(spaceId), keys.settings(partitionOf(spaceId)), ...history];
  for (const key of [
    ...ofJobs,
    ...ofOperations,
    ...ofSpaces,
    keys.apiKeys,
    keys.apiKeyIndex,
    ...AUDIT_STREAMS.map(keys.audit),
  ]) {
    await service.redis.del(key);
    await service.redis.set(key, 'of another type');
  }
  for (const endpoint of ENDPOINTS) await expectResponse(endpoint, UNKNOWN, askingRedis(endpoint), 500);
  await service.redis.flushall();
});

it('responds as documented while the maximum number of requests is in flight', async () => {
  const busy = await startService({ MAX_IN_FLIGHT: '1' }, { redis, app: 'api', check: false });
  try {
    await service.redis.client('PAUSE', 60_000, 'WRITE');
    const inFlight = busy.call('POST', '/spaces/waiting/jobs', { body: { name: 'work' } });
    await until(async () => (await busy.http.call('GET', '/metrics')).text.includes('http_requests_in_flight 1\n'));
    for (const endpoint of ENDPOINTS)
      expectDocumented(endpoint, await callEndpoint(busy, endpoint, UNKNOWN, askingRedis(endpoint)), 503);
    await service.redis.client('UNPAUSE');
    expect((await inFlight).status).toBe(201);
  } finally {
    await busy.stop();
  }
});

it('responds as documented to the creation of more keys than a space may have', async () => {
  const full = await startService({ KEYS_PER_SPACE: '1' }, { redis, app: 'api' });
  try {
    const create = endpointOf('Create Key');
    const body = { ...(create.body as object), spaceId: 'full' };
    for (const status of [201, 429])
      expectDocumented(create, await callEndpoint(full, create, UNKNOWN, { body }), status);
  } finally {
    await full.stop();
  }
});

it('responds as documented while the maximum number of calls is waiting', async () => {
  const full = await startService({ WAITERS_PER_PROCESS: '1' }, { redis, app: 'api' });
  try {
    const jobId = await jobIn(full, 'running', 'waiting');
    const waiting = full.call('GET', `/jobs/${jobId}?waitSeconds=20`);
    await untilWaiting(full, 1);
    const target = { ...UNKNOWN, jobId };
    for (const name of ['Poll for Jobs', 'Get Job', 'Create Job']) {
      const endpoint = endpointOf(name);
      const path = name === 'Poll for Jobs' ? endpoint.path : `${endpoint.path}?waitSeconds=20`;
      const body = { ...(endpoint.body as object), waitSeconds: 20 };
      expectDocumented(endpoint, await callEndpoint(full, { ...endpoint, path }, target, { body }), 429);
    }
    await full.call('POST', `/jobs/${jobId}/kill`);
    expectDocumented(endpointOf('Get Job'), await waiting, 200);
  } finally {
    await full.stop();
  }
});

it('responds as documented while Redis is unavailable', async () => {
  await redis.halt();
  await Promise.all(ENDPOINTS.map((endpoint) => expectResponse(endpoint, UNKNOWN, askingRedis(endpoint), 503)));
  await redis.resume();
});

it('the preceding tests receive every documented response that can reach a client', () => {
  const kinds = ENDPOINTS.flatMap((endpoint) => {
    const operation = contract.operation(endpoint);
    return Object.keys(operation.operation.responses).flatMap((status) => {
      const codes = contract.codesOf(operation, status);
      return (codes.length === 0 ? [''] : codes).map((code) => `${endpoint.name} ${status} ${code}`);
    });
  });
  // That response takes half a minute of silence, and its text is the same for every endpoint.
  expect(kinds.filter((kind) => !seen.has(kind) && !kind.endsWith('408 REQUEST_TIMEOUT'))).toEqual([]);
});
