import { gzipSync } from 'node:zlib';
import { beforeAll, expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import type { Answer, CallOptions } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import { Contract, type Part } from '../support/openapi.js';
import { withRedis } from '../support/own-redis.js';
import { sendRaw, withRaw } from '../support/raw-client.js';
import { ADMIN_KEY, startService, withService } from '../support/service.js';
import { until } from '../support/until.js';
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

// Every answer of every endpoint is as the OpenAPI document says, and every answer of the document is given here once. Which
// answer it must be is for other tests to say.

const redis = withRedis();
const limits = { MAX_BODY_BYTES: '2048', MAX_LOG_WIRE_BYTES: '2048' };
// Not compared with itself at the end: a test damages what is stored.
const service = withService(limits, { redis, app: 'api', check: false });
let contract: Contract;
beforeAll(async () => {
  contract = new Contract((await service.call('GET', '/openapi.json')).body);
});

/** Kinds of answers seen so far: `endpoint status code`. */
const seen = new Set<string>();

/** Judge an answer by the document. @param status what it must be */
function expectDocumented(endpoint: Endpoint, answer: Answer, status: unknown = expect.any(Number)): void {
  seen.add(`${endpoint.name} ${answer.status} ${answer.body?.code ?? ''}`);
  const faults = contract.faultsOf(contract.operation(endpoint), answer);
  expect({ call: endpoint.name, status: answer.status, faults }).toEqual({ call: endpoint.name, status, faults: [] });
}

async function expectAnswer(endpoint: Endpoint, target: Target, options: CallOptions = {}, status?: number) {
  expectDocumented(endpoint, await callEndpoint(service, endpoint, target, options), status);
}

/** How the examples of a body are sent, in each type and coding; for an endpoint without a body, one call without. */
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

it.each(ENDPOINTS)('answers each example of $name with a success as documented', async (endpoint) => {
  for (const example of examplesOf(endpoint))
    await expectAnswer(endpoint, await targetFor(service, endpoint, 'examples'), example, endpoint.success ?? 200);
});

it.each(STATUSES)('answers each call on a job that is %s as documented', async (status) => {
  for (const endpoint of ENDPOINTS.filter(({ path }) => path.includes(':jobId'))) {
    const jobId = await jobIn(service, status, 'statuses', { payload: { deep: [{}, null, 1.5] } });
    await service.call('POST', `/jobs/${jobId}/logs`, { body: ['one', { message: 'two', level: 'error' }] });
    await expectAnswer(endpoint, { ...UNKNOWN, jobId });
  }
  for (const endpoint of ['List Jobs', 'Get Space Statistics'].map(endpointOf))
    await expectAnswer(endpoint, { ...UNKNOWN, spaceId: 'statuses' });
});

it('answers all that reads a job with every kind of event as documented', async () => {
  const jobId = await jobIn(service, 'running', 'events', { maxRetries: 1 });
  const steps: [verb: string, body?: unknown][] = [
    ['progress', { percent: 1, message: 'x', subProgress: { a: { percent: 2 } } }],
    ['checkpoint', { row: 1 }],
    ['event', null],
    ['logs', [{ message: 'no colour, x', level: 'warn' }]],
    ['fail', { error: { why: 'x' } }],
  ];
  for (const [verb, body] of steps) await service.call('POST', `/jobs/${jobId}/${verb}`, { body });
  const target = { ...UNKNOWN, spaceId: 'events', jobId };
  for (const name of ['Poll for Jobs', 'Get Job', 'Get Job Progress', 'List Jobs', 'Get Space Statistics'])
    await expectAnswer(endpointOf(name), target, {}, 200);
  const logs = endpointOf('Get Job Logs');
  for (const query of ['limit=1', 'after=0', 'before=9', 'level=warn,error&level=info', 'q="no colour" x'])
    await expectAnswer({ ...logs, path: `${logs.path}?${encodeURI(query)}` }, target, {}, 200);
});

/** Call without naming the host, which no client of a library can. */
async function callWithoutHost(endpoint: Endpoint): Promise<Answer> {
  const head = `${endpoint.method} /api/v1${pathOf(endpoint, UNKNOWN)} HTTP/1.1\r\nConnection: close\r\n\r\n`;
  const [answer] = await sendRaw(service.url, head);
  return { ...(answer as Omit<Answer, 'body'>), body: JSON.parse(answer?.text ?? '') };
}

/** Fields of several bodies, all of them wrong. */
const SEVERAL_FAULTS = { name: 5, maxRetries: -1, count: 0, percent: -1, message: 5, scopes: 5, logs: [{}, {}] };

it.each(ENDPOINTS)('refuses all kinds of wrong calls of $name as documented', async (endpoint) => {
  const { key } = await service.key([endpoint.name === 'Kill Job' ? 'jobs:ack' : 'jobs:kill']);
  await expectAnswer(endpoint, UNKNOWN, { key: undefined }, 401);
  await expectAnswer(endpoint, UNKNOWN, { key }, 403);
  expectDocumented(endpoint, await callEndpoint(service, { ...endpoint, method: 'PATCH' }, UNKNOWN), 405);
  await expectAnswer(endpoint, UNKNOWN, { headers: { 'x-long': 'x'.repeat(20_000) } }, 431);
  expectDocumented(endpoint, await callWithoutHost(endpoint), 400);
  await expectAnswer(endpoint, UNKNOWN);
  if (endpoint.body === undefined) return;
  await expectAnswer(endpoint, UNKNOWN, { raw: '{' }, 400);
  await expectAnswer(endpoint, UNKNOWN, { body: SEVERAL_FAULTS });
  await expectAnswer(endpoint, UNKNOWN, { body: ['x'.repeat(2_048)] }, 413);
  await expectAnswer(endpoint, UNKNOWN, { raw: 'x', headers: { 'content-type': 'text/plain' } }, 415);
});

it('answers as documented when Redis has no memory left', async () => {
  const targets = await Promise.all(ENDPOINTS.map((endpoint) => targetFor(service, endpoint, 'full')));
  await service.redis.config('SET', 'maxmemory', '1mb');
  for (const [n, endpoint] of ENDPOINTS.entries()) await expectAnswer(endpoint, targets[n] as Target);
  await service.redis.config('SET', 'maxmemory', '0');
});

it('answers as documented when Redis would delete jobs', async () => {
  await service.redis.config('SET', 'maxmemory', '1gb');
  await service.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const unsafe = await startService({}, { redis, app: 'api', check: false }); // Looks at its start.
  const create = endpointOf('Create Job');
  expectDocumented(create, await callEndpoint(unsafe, create, UNKNOWN), 503);
  await unsafe.stop();
  await service.redis.config('SET', 'maxmemory-policy', 'noeviction');
  await service.redis.config('SET', 'maxmemory', '0');
});

it('answers as documented when keys in Redis are of another type', async () => {
  const { keys } = service.store;
  const { jobId, spaceId } = UNKNOWN;
  for (const key of [keys.job(jobId), keys.jobs(spaceId), keys.queue(spaceId), keys.names(spaceId), keys.apiKeys]) {
    await service.redis.del(key);
    await service.redis.set(key, 'of another type');
  }
  for (const endpoint of ENDPOINTS) await expectAnswer(endpoint, UNKNOWN, askingRedis(endpoint), 500);
  await service.redis.flushall();
});

it('answers as documented while as many requests are in flight as may be', async () => {
  const busy = await startService({ MAX_IN_FLIGHT: '1' }, { redis, app: 'api', check: false });
  try {
    await withRaw(busy.url, async ({ socket }) => {
      const head = `Host: x\r\nx-api-key: ${ADMIN_KEY}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n`;
      socket.write(`POST /api/v1/spaces/held/jobs HTTP/1.1\r\n${head}\r\n{`);
      const list = endpointOf('List Jobs');
      await until(async () => (await callEndpoint(busy, list, UNKNOWN)).body.code === 'OVERLOADED');
      for (const endpoint of ENDPOINTS)
        expectDocumented(endpoint, await callEndpoint(busy, endpoint, UNKNOWN, askingRedis(endpoint)), 503);
    });
  } finally {
    await busy.stop();
  }
});

it('answers as documented while Redis is away', async () => {
  await redis.halt();
  await Promise.all(ENDPOINTS.map((endpoint) => expectAnswer(endpoint, UNKNOWN, askingRedis(endpoint), 503)));
  await redis.resume();
});

it('has given every documented answer at the end, except that to a request which never arrives', () => {
  const kinds = ENDPOINTS.flatMap((endpoint) => {
    const operation = contract.operation(endpoint);
    return Object.keys(operation.operation.responses).flatMap((status) => {
      const codes = contract.codesOf(operation, status);
      return (codes.length === 0 ? [''] : codes).map((code) => `${endpoint.name} ${status} ${code}`);
    });
  });
  // It takes half a minute of silence, and is the same text whatever was asked for.
  expect(kinds.filter((kind) => !seen.has(kind) && !kind.endsWith('408 REQUEST_TIMEOUT'))).toEqual([]);
});
