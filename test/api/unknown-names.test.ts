import { describe, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { knownFieldsOf, logBatch } from '@yardmaster/protocol';
import type { HttpResponse } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { VERSION } from '../support/version.js';
import { callEndpoint, ENDPOINTS, endpointOf, MADE, targetFor, UNKNOWN } from './endpoints.js';

const service = withService();

const STRICT = { prefer: 'handling=strict' };
const ignoredOf = ({ headers }: HttpResponse) => headers['x-ignored-fields'];
const create = (body: unknown, headers = {}) => service.call('POST', '/spaces/unknown/jobs', { body, headers });
const jobs = async () => (await service.call('GET', '/spaces/unknown/jobs?limit=100')).body.length;

/** Call an endpoint on a target of its own. */
async function ask(name: string, body: unknown, headers = {}): Promise<HttpResponse> {
  const endpoint = endpointOf(name);
  return callEndpoint(service, endpoint, await targetFor(service, endpoint, 'unknown'), { body, headers });
}

const half = { percent: 50, message: 'half' };

/** Bodies with unknown fields, their paths, and the refusal of the first by a client that prefers it. */
const UNKNOWN_FIELDS: [name: string, body: unknown, ignored: string, error: string][] = [
  [
    'Create Job',
    { name: 'work', delaySecond: 5 },
    'delaySecond',
    'unknown field delaySecond, did you mean delaySeconds?',
  ],
  ['Create Job', { name: 'work', retry: { delaySeconds: 1, delay: 1 } }, 'retry.delay', 'unknown field retry.delay'],
  ['Create Job', { name: 'work', maxRetry: 5 }, 'maxRetry', 'unknown field maxRetry, did you mean maxRetries?'],
  [
    'Create Job',
    { name: 'work', timeoutSecond: 5 },
    'timeoutSecond',
    'unknown field timeoutSecond, did you mean timeoutSeconds?',
  ],
  ['Create Job', { name: 'work', x: 1, y: { z: 1 } }, 'x, y', 'unknown field x'],
  ['Poll for Jobs', { cuont: 1 }, 'cuont', 'unknown field cuont, did you mean count?'],
  ['Report Progress', { ...half, percnt: 1 }, 'percnt', 'unknown field percnt, did you mean percent?'],
  [
    'Report Progress',
    { ...half, subProgress: { build: { percent: 1, mesage: 'x' }, mesage: { percent: 1 } } },
    'subProgress.build.mesage',
    'unknown field subProgress.build.mesage, did you mean message?',
  ],
  ['Complete Job', { resul: 1 }, 'resul', 'unknown field resul, did you mean result?'],
  ['Fail Job', { error: 'no', retriable: false }, 'retriable', 'unknown field retriable, did you mean retryable?'],
  ['Reschedule Job', { delaySeconds: 5, prio: 1 }, 'prio', 'unknown field prio'],
  ['Requeue Job', { delay: 1 }, 'delay', 'unknown field delay'],
  ['Copy Job', { payloud: {} }, 'payloud', 'unknown field payloud, did you mean payload?'],
  ['Kill Job', { why: 'x' }, 'why', 'unknown field why'],
  ['Append Logs', { logs: ['a'], log: [] }, 'log', 'unknown field log, did you mean logs?'],
  [
    'Append Logs',
    { logs: ['a', { message: 'b', lvl: 1 }] },
    'logs[1].lvl',
    'unknown field logs[1].lvl, did you mean level?',
  ],
  ['Append Logs', [{ message: 'b', Level: 1 }], 'logs[0].Level', 'unknown field logs[0].Level, did you mean level?'],
];

it.each(UNKNOWN_FIELDS)('lists the unknown fields of a body of %s in a header: %j', async (name, body, ignored) => {
  const response = await ask(name, body);
  expect(response.status).toBe(endpointOf(name).success ?? 200);
  expect(ignoredOf(response)).toBe(ignored);
  expect(response.headers['preference-applied']).toBeUndefined();
});

it.each(UNKNOWN_FIELDS)(
  'refuses the unknown fields of a body of %s under strict handling: %j',
  async (name, body, ignored, error) => {
    const { status, headers, body: refusal } = await ask(name, body, STRICT);
    expect({ status, error: refusal.error, code: refusal.code }).toEqual({
      status: 400,
      error,
      code: 'INVALID_REQUEST',
    });
    const paths = refusal.details?.map(({ path }: { path: string }) => path) ?? [ignored];
    expect(paths.join(', ')).toBe(ignored);
    expect(headers['x-ignored-fields']).toBeUndefined();
  },
);

it('lists unknown fields in an error response, because a misspelled field may be its cause', async () => {
  const response = await create({ nam: 'work' });
  expect(response.status).toBe(400);
  expect(ignoredOf(response)).toBe('nam');
});

it('a refusal of an unknown field under strict handling changes nothing', async () => {
  const before = await jobs();
  expect((await create({ name: 'work', x: 1 }, STRICT)).status).toBe(400);
  expect(await jobs()).toBe(before);
});

it('reports a misspelled required field as unknown instead of missing', async () => {
  const { body } = await create({ nam: 'work' }, STRICT);
  expect(body.error).toBe('unknown field nam, did you mean name?');
});

it('quotes an empty unknown field, and suggests nothing for it', async () => {
  const copy = await ask('Copy Job', { '': 1 }, STRICT);
  expect(copy.body.error).toBe('unknown field ""');
  const pause = await ask('Pause Space', { '': 1 });
  expect(pause.body.error).toBe('unknown field ""');
  const key = await ask('Create Key', { '': 1, name: 'k', scopes: ['jobs:read'] });
  expect(key.body.error).toBe('unknown field ""');
});

it('names unknown fields of NDJSON entries by their line', async () => {
  const send = async (headers = {}) => {
    const { id } = await createJob(service, 'unknown');
    const type = { 'content-type': 'application/x-ndjson' };
    const raw = '"a"\n\n{"message":"b","lvel":1}\n';
    return service.call('POST', `/jobs/${id}/logs`, { raw, headers: { ...type, ...headers } });
  };
  const response = await send();
  expect(decodeURIComponent(ignoredOf(response) as string)).toBe('line 3: lvel');
  expect((await send(STRICT)).body.error).toBe('unknown field line 3: lvel, did you mean level?');
});

it.each<[name: string, body: unknown]>([
  ['Create Job', { name: 'work', payload: { x: { y: [{ z: 1 }] } }, callbackHeaders: { 'x-a': 'b' } }],
  ['Report Progress', { ...half, subProgress: { percent: { percent: 1 } } }],
  ['Complete Job', { result: { a: { b: 1 } } }],
  ['Fail Job', { error: { code: 'EBAD' } }],
  ['Checkpoint', { row: 1 }],
  ['Custom Event', { seen: true }],
  ['Append Logs', ['a', { message: 'b', metadata: { x: { y: 1 } } }]],
  ['Poll for Jobs', undefined],
])('reports no unknown fields inside free-form JSON or free-form names: %s %j', async (name, body) => {
  const response = await ask(name, body);
  expect({ status: response.status < 300, ignored: ignoredOf(response) }).toEqual({ status: true });
  const strict = await ask(name, body, STRICT);
  const applied = strict.headers['preference-applied'];
  expect({ status: strict.status < 300, applied }).toEqual({ status: true, applied: 'handling=strict' });
});

it('encodes the path of an unknown field reversibly', async () => {
  const names = ['a b', 'a,b', '%', 'ä', '漢', '\ud800', '[x]', 'a.b', '\r\nset-cookie: x'];
  const response = await create({ name: 'work', ...Object.fromEntries(names.map((name) => [name, 1])) });
  const shown = (ignoredOf(response) as string).split(', ').map(decodeURIComponent);
  expect(shown).toEqual(names.map((name) => name.toWellFormed()));
  expect(ignoredOf(response)).toMatch(/^[\x21-\x7e ]*$/);
});

it('lists at most 20 unknown fields, and no more bytes than a proxy accepts', async () => {
  const many = (name: string) => Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${name}${i}`, 1]));
  expect(
    ignoredOf(await create({ name: 'work', ...many('x') }))
      ?.toString()
      .split(', '),
  ).toHaveLength(20);
  const long = ignoredOf(await create({ name: 'work', ...many('漢'.repeat(90)) })) as string;
  expect(long.length).toBeLessThanOrEqual(2_048);
  expect(long.split(', ').length).toBeGreaterThan(1);
  const { id } = await createJob(service, 'unknown');
  const logs = Array.from({ length: 200 }, () => ({ message: 'a', x: 1 }));
  const batch = await service.call('POST', `/jobs/${id}/logs`, { body: { logs, ...many('y'), logz: 1 } });
  expect(batch.status).toBe(400); // More than 100 fields in addition to `logs`.
  const some = await service.call('POST', `/jobs/${id}/logs`, { body: logs });
  expect(some.headers['x-ignored-fields']?.toString().split(', ').at(-1)).toBe('logs[19].x');
});

it('lists unknown fields with the refusal of a batch of logs', async () => {
  const response = await ask('Append Logs', { logs: [{ message: 'a', lvl: 1 }, { message: 5 }] });
  expect(response.status).toBe(400);
  expect(ignoredOf(response)).toBe('logs[0].lvl');
});

it('Create Key refuses unknown fields instead of ignoring them', async () => {
  const response = await service.call('POST', '/keys', { body: { name: 'k', scopes: ['jobs:read'], space: 'x' } });
  expect(response).toMatchObject({ status: 400, body: { error: 'unknown field space, did you mean spaceId?' } });
  expect(ignoredOf(response)).toBeUndefined();
});

it('omits the header of unknown fields when all fields are known', async () => {
  expect(ignoredOf(await create({ name: 'work' }))).toBeUndefined();
  expect(ignoredOf(await create({ name: 5 }))).toBeUndefined();
});

it('the service knows the fields of every body that is not free-form JSON', () => {
  const bodyOf = ({ input }: (typeof ROUTES)[number]) => input?.body?.content['application/json']?.schema;
  const free = ROUTES.filter((route) => {
    const body = bodyOf(route);
    return body !== undefined && knownFieldsOf(body) === null && route.operation !== 'appendLogs';
  });
  // Start Operation, and the endpoints of stream tokens and keys, refuse unknown fields in their schemas.
  expect(free.map(({ operation }) => operation)).toEqual([
    'startOperation',
    'checkpointJob',
    'recordEvent',
    'createStreamToken',
    'createKey',
    'rotateKey',
  ]);
  expect(knownFieldsOf(logBatch)).toBeNull(); // Two forms; the reader of batches knows both.
});

it.each([
  'handling=strict',
  'HANDLING=Strict',
  'handling = strict',
  'handling="strict"',
  'handling=strict; x=1',
  'respond-async, handling=strict',
  'respond-async;wait=100 , handling=strict, handling=lenient',
  'x="a, handling=lenient", handling=strict',
])('refuses unknown fields with the header Prefer: %s', async (prefer) => {
  expect((await create({ name: 'work', x: 1 }, { prefer })).status).toBe(400);
  const { status, headers } = await create({ name: 'work' }, { prefer });
  expect({ status, applied: headers['preference-applied'] }).toEqual({ status: 201, applied: 'handling=strict' });
});

it('refuses unknown fields when the second of two Prefer headers demands it', async () => {
  expect((await create({ name: 'work', x: 1 }, { prefer: ['wait=10', 'handling=strict'] })).status).toBe(400);
});

it.each([
  'handling=lenient',
  'handling=lenient, handling=strict',
  'strict',
  'x="handling=strict"',
  'x; handling=strict',
  '',
  '"',
])('ignores unknown fields with the header Prefer: %s', async (prefer) => {
  const { status, headers } = await create({ name: 'work', x: 1 }, { prefer });
  expect({ status, applied: headers['preference-applied'] }).toEqual({ status: 201 });
  expect(headers['x-ignored-fields']).toBe('x');
});

it('confirms strict handling by Create Key, which always refuses unknown fields', async () => {
  const key = { name: MADE, scopes: ['jobs:read'] };
  const post = (body: unknown, headers = {}) => service.call('POST', '/keys', { body, headers });
  for (const headers of [{}, STRICT]) {
    const { status, body } = await post({ ...key, space: 'a' }, headers);
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: 'unknown field space, did you mean spaceId?',
    });
  }
  const { headers, body } = await post(key, STRICT);
  expect(headers['preference-applied']).toBe('handling=strict');
  await service.call('DELETE', `/keys/${body.id}`);
});

describe('unknown parameters of a query', () => {
  const refusal = (...errors: string[]) => ({ status: 400, errors, code: 'INVALID_REQUEST' });
  const summary = ({ status, body: { error, details, code } }: HttpResponse) => ({
    status,
    errors: details?.map(({ message }: { message: string }) => message) ?? [error],
    code,
  });

  it.each(ENDPOINTS)('refuses unknown query parameters of $name', async (endpoint) => {
    const [target, before] = [await targetFor(service, endpoint, 'unknown'), await jobs()];
    const response = await callEndpoint(service, { ...endpoint, path: `${endpoint.path}?unknown=1` }, target);
    expect(summary(response)).toEqual(refusal('unknown query parameter unknown'));
    expect((await jobs()) - before).toBe(0);
    if (target.jobId === '') return;
    const { status } = (await service.call('GET', `/jobs/${target.jobId}`)).body;
    expect(status).toBe(endpoint.on ?? 'pending');
  });

  it.each([
    ['jobs?names=resize', 'unknown query parameter names, did you mean name?'],
    ['jobs?statsu=dead', 'unknown query parameter statsu, did you mean status?'],
    ['jobs?status=dead&Limit=5', 'unknown query parameter Limit, did you mean limit?'],
    ['jobs?limit[]=5', 'unknown query parameter limit[], did you mean limit?'],
    ['jobs?__proto__=5', 'unknown query parameter __proto__'],
    ['stats?names=a', 'unknown query parameter names, did you mean name?'],
    ['jobs?=1', 'unknown query parameter ""'],
    ['jobs?limit=1&=', 'unknown query parameter ""'],
  ])('refuses an unknown query parameter with a suggestion: %s', async (query, error) => {
    expect(summary(await service.call('GET', `/spaces/unknown/${query}`))).toEqual(refusal(error));
  });

  it('refuses an unknown query parameter of logs', async () => {
    const id = await jobIn(service, 'running', 'unknown');
    const response = await service.call('GET', `/jobs/${id}/logs?levels=warn&limit=5&tail=3`);
    expect(summary(response)).toEqual(
      refusal('unknown query parameter levels, did you mean level?', 'unknown query parameter tail'),
    );
  });

  it('refuses an unknown query parameter after checking the key and before reading the job', async () => {
    const path = `/jobs/${UNKNOWN.jobId}?x=1`;
    expect((await service.call('GET', path)).status).toBe(400);
    expect((await service.call('GET', path, { key: 'wrong' })).status).toBe(401);
  });

  it('names only some unknown query parameters when they are many or long', async () => {
    const many = Array.from({ length: 50 }, (_, i) => `p${i}=1`).join('&');
    expect((await service.call('GET', `/keys?${many}`)).body.details).toHaveLength(20);
    const { body } = await service.call('GET', `/keys?${'x'.repeat(5_000)}=1`);
    expect(body.error).toBe(`unknown query parameter ${'x'.repeat(100)}`);
  });

  it.each(['info', 'openapi.json', 'streams.schema.json'])(
    'refuses an unknown query parameter of /%s, which needs no key',
    async (path) => {
      const response = await service.call('GET', `/${path}?v=1`, { key: undefined });
      expect(summary(response)).toEqual(refusal('unknown query parameter v'));
    },
  );
});

it('shows the service, its version and its features without a key', async () => {
  const { status, body } = await service.call('GET', '/info', { key: undefined });
  const features = [
    ...['idempotency', 'unique', 'delivery-token', 'release', 'schedule', 'schedules', 'retry'],
    ...[
      'long-poll',
      'batch',
      'settle',
      'turn',
      'operations',
      'find',
      'settings',
      'stream-resume',
      'sse',
      'stream-tokens',
    ],
  ];
  expect({ status, body }).toEqual({ status: 200, body: { service: 'yardmaster', version: VERSION, features } });
});
