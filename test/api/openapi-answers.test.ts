import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi, ROUTES, type Route } from '@yardmaster/api';
import { type ErrorCode, STATUSES, type Status } from '@yardmaster/protocol';
import type { Answer } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { Caller, type Named, SPACE_ID, titled } from './openapi-calls.js';

let redis: OwnRedis;
let service: TestService;
let caller: Caller;
/** Of a service whose keys in Redis are of other types than it expects. */
let broken: Caller;

beforeAll(async () => {
  redis = await startRedis();
  const small = { MAX_BODY_BYTES: '2048', MAX_LOG_WIRE_BYTES: '2048' };
  // The API alone: nothing moves a job here but calls.
  service = await startService(small, { redisUrl: redis.url, app: createApi });
  caller = await Caller.of(service);
  broken = await Caller.of(await startService({}, { redisUrl: redis.url, app: createApi, check: false }));
});
afterAll(async () => {
  await broken.service.stop();
  await service.stop();
  await redis.stop();
});

/** Judge an answer by the document, and expect it to be the one that was meant. */
function expectAnswer(route: Route, answer: Answer, expected: { status: number; code?: ErrorCode }): void {
  const faults = caller.faults(route, answer);
  const { status, body } = answer;
  expect({ status, code: body?.code, faults }).toEqual({ code: undefined, ...expected, faults: [] });
}

const find = (operation: Route['operation']) => ROUTES.find((route) => route.operation === operation) as Route;

const success = (route: Route) => ({ status: route.created ? 201 : 200 });

describe('a success', () => {
  it.each(titled)('of $title is as documented, for each example', async ({ route }) => {
    for (const body of caller.bodiesOf(route))
      expectAnswer(route, await caller.call(route, await caller.target(route), { body }), success(route));
  });

  const READS = ['getJob', 'getProgress', 'readLogs', 'listJobs', 'getStats', 'claimJob'] as const;

  it.each(STATUSES)('is as documented for a job that is %s', async (status) => {
    const named = await caller.target(find('getJob'), status, { payload: { deep: [{}, null, 1.5] }, maxRetries: 1 });
    await service.call('POST', `/jobs/${named.jobId}/logs`, { body: ['one', { message: 'two', level: 'error' }] });
    for (const operation of READS) {
      const route = find(operation);
      expectAnswer(route, await caller.call(route, named), success(route));
    }
  });

  it('is as documented for a job with every kind of event', async () => {
    const named = await caller.target(find('getJob'), 'running', { maxRetries: 1 });
    const steps: [verb: string, body?: unknown][] = [
      ['progress', { percent: 1, message: 'x', subProgress: { a: { percent: 2 } } }],
      ['checkpoint', { row: 1 }],
      ['event', null],
      ['fail', { error: { why: 'x' } }],
    ];
    for (const [verb, body] of steps) await service.call('POST', `/jobs/${named.jobId}/${verb}`, { body });
    const polled = await caller.call(find('pollJobs'), named, { body: { count: 50 } });
    expect(polled.body.jobs.map((job: { checkpoint: unknown }) => job.checkpoint)).toContainEqual({ row: 1 });
    expectAnswer(find('pollJobs'), polled, { status: 200 });
    for (const operation of READS)
      expectAnswer(find(operation), await caller.call(find(operation), named), { status: 200 });
  });

  it.each(['?limit=1', '?after=0', '?before=9', '?level=warn,error&level=info', '?q="no colour" x'])(
    'of reading logs is as documented with %s',
    async (query) => {
      const named = await caller.target(find('readLogs'));
      await caller.call(find('appendLogs'), named);
      const answer = await caller.call(find('readLogs'), named, { query: encodeURI(query) });
      expectAnswer(find('readLogs'), answer, { status: 200 });
    },
  );

  it('of appending logs is as documented in every form', async () => {
    const route = find('appendLogs');
    for (const { type, text } of caller.textsOf(route)) {
      for (const encoding of [undefined, 'gzip']) {
        const raw = encoding === 'gzip' ? gzipSync(text) : text;
        const headers = { 'content-type': type, 'content-encoding': encoding };
        expectAnswer(route, await caller.call(route, await caller.target(route), { raw, headers }), { status: 200 });
      }
    }
  });
});

const UNKNOWN: Named = { spaceId: SPACE_ID, jobId: '00aaaaaaaaaaaaaaaaaaaaaaaaaa', keyId: 'aaaa' };

/** A status in which a job is refused with a code; without a callback where that is what it is about. */
const REFUSED_IN: Partial<Record<ErrorCode, Status>> = {
  JOB_NOT_DELIVERED: 'running',
  JOB_NOT_RUNNING: 'pending',
  JOB_KILLED: 'killed',
  JOB_ENDED: 'completed',
  JOB_NOT_ENDED: 'running',
  NO_CALLBACK: 'completed',
};

type Provocation = (route: Route) => Promise<Answer>;

const inStatus =
  (code: ErrorCode): Provocation =>
  async (route) =>
    caller.call(route, { ...UNKNOWN, jobId: await jobIn(service, REFUSED_IN[code] as Status, SPACE_ID) });

/** How to be answered with each code by whatever operation documents it. */
const PROVOCATIONS: Partial<Record<ErrorCode, Provocation>> = {
  INVALID_REQUEST: (route) => caller.callWithoutHost(route, UNKNOWN),
  UNAUTHENTICATED: (route) => caller.call(route, UNKNOWN, { key: undefined }),
  FORBIDDEN: async (route) => {
    const { key } = await service.key([route.scopes[0] === 'jobs:kill' ? 'jobs:ack' : 'jobs:kill']);
    return caller.call(route, UNKNOWN, { key });
  },
  JOB_NOT_FOUND: (route) => caller.call(route, UNKNOWN),
  KEY_NOT_FOUND: (route) => caller.call(route, UNKNOWN),
  METHOD_NOT_ALLOWED: (route) => caller.call(route, UNKNOWN, { method: 'PATCH' }),
  ...Object.fromEntries(Object.keys(REFUSED_IN).map((code) => [code, inStatus(code as ErrorCode)])),
  TOO_LARGE: (route) => caller.call(route, UNKNOWN, { body: ['x'.repeat(2_048)] }),
  UNSUPPORTED_MEDIA_TYPE: (route) =>
    caller.call(route, UNKNOWN, { raw: 'x', headers: { 'content-type': 'text/plain' } }),
};

describe('a refusal', () => {
  const statusOf = (route: Route, code: ErrorCode) =>
    Object.keys(caller.documented(route).operation.responses).find((status) => codesOf(route, status).includes(code));
  const codesOf = (route: Route, status: string): ErrorCode[] => {
    const { part } = caller.contract.resolved(`${caller.documented(route).pointer}/responses/${status}`);
    return part.content['application/json'].schema.allOf?.[1].properties.code.enum ?? [];
  };

  it.each(titled)('of $title is as documented, for each code', async ({ route }) => {
    for (const [code, provoke] of Object.entries(PROVOCATIONS) as [ErrorCode, Provocation][]) {
      const status = statusOf(route, code);
      if (status !== undefined) expectAnswer(route, await provoke(route), { status: Number(status), code });
    }
  });

  it.each(titled.filter(({ route }) => route.body || route.read))(
    'of $title is as documented for a body that is no JSON',
    async ({ route }) => {
      expectAnswer(route, await caller.call(route, UNKNOWN, { raw: '{' }), { status: 400, code: 'INVALID_REQUEST' });
    },
  );

  it.each([
    {
      operation: 'createJob',
      options: { body: { maxRetries: -1, timeoutSeconds: 0, callbackHeaders: { host: 'x' } } },
    },
    { operation: 'pollJobs', options: { body: { count: 0, types: 'x' } } },
    { operation: 'reportProgress', options: { body: { percent: 101, subProgress: { a: 1 } } } },
    { operation: 'appendLogs', options: { body: [{}, { message: 1, level: 'loud' }] } },
    { operation: 'createKey', options: { body: { scopes: ['x'], expiresAt: 'x' } } },
    { operation: 'listJobs', options: { query: '?limit=x&offset=-1' } },
    { operation: 'readLogs', options: { query: '?limit=0&level=loud' } },
  ] as const)('of $operation is as documented for several faults at once', async ({ operation, options }) => {
    const route = find(operation);
    const answer = await caller.call(route, UNKNOWN, options);
    expectAnswer(route, answer, { status: 400, code: 'INVALID_REQUEST' });
    expect(answer.body.details.length).toBeGreaterThan(1);
  });

  it.each(titled)('of $title is as documented for headers that are too long', async ({ route }) => {
    const answer = await caller.call(route, UNKNOWN, { headers: { 'x-long': 'x'.repeat(20_000) } });
    expectAnswer(route, answer, { status: 431, code: 'INVALID_REQUEST' });
  });

  it.each(titled)('of $title is as documented for a fault of ours', async ({ route }) => {
    const { redis: connection, store } = broken.service;
    const { spaceId, jobId } = UNKNOWN;
    const { keys } = store;
    for (const key of [keys.job(jobId), keys.jobs(spaceId), keys.queue(spaceId), keys.names(spaceId), keys.apiKeys])
      await connection.set(key, 'of another type');
    expectAnswer(route, await broken.call(route, UNKNOWN), { status: 500, code: 'INTERNAL' });
  });
});

describe('when Redis has no memory left', () => {
  it('every operation answers as documented, and those that store something with STORAGE_FULL', async () => {
    const targets = new Map<Route, Named>();
    for (const route of ROUTES) targets.set(route, await caller.target(route));
    await service.redis.config('SET', 'maxmemory', '1mb');
    try {
      for (const [route, named] of targets) {
        const answer = await caller.call(route, named);
        const isFull = answer.body?.code === 'STORAGE_FULL';
        expectAnswer(route, answer, isFull ? { status: 503, code: 'STORAGE_FULL' } : success(route));
      }
    } finally {
      await service.redis.config('SET', 'maxmemory', '0');
    }
  });
});

describe('at the end', () => {
  it('every operation answers as documented while Redis is away', async () => {
    await redis.halt();
    try {
      const answers = await Promise.all(
        ROUTES.map(async (route) => ({ route, answer: await caller.call(route, UNKNOWN) })),
      );
      for (const { route, answer } of answers) expectAnswer(route, answer, { status: 503, code: 'UNAVAILABLE' });
    } finally {
      await redis.resume();
    }
  });

  // It takes half a minute of silence, and is the same text whatever was asked for.
  it('every documented answer was given but that to a request which never arrives', () => {
    expect(caller.notSeen().filter((kind) => !kind.endsWith('408 REQUEST_TIMEOUT'))).toEqual([]);
  });
});
