import { beforeAll, describe, expect, it } from '@jest/globals';
import type { HttpResponse } from '../support/http.js';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { VERSION } from '../support/version.js';
import { ENDPOINTS, endpointOf, pathOf, type Target, targetFor } from './endpoints.js';

const service = withService();
let target: Target;
beforeAll(async () => {
  const { operationId } = await targetFor(service, endpointOf('Get Operation'), 'http');
  const { scheduleId } = await targetFor(service, endpointOf('Get Schedule'), 'http');
  const jobId = await jobIn(service, 'running', 'http');
  target = { spaceId: 'http', jobId, keyId: 'http', operationId, scheduleId };
  await until(async () => (await service.call('GET', `/operations/${target.operationId}`)).body.status === 'done');
});

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'];

/** Allowed methods of every path. */
const ALLOWED = new Map<string, string[]>();
const DOCUMENTS = ['info', 'openapi.json', 'asyncapi.json', 'streams.schema.json'].map((name) => `/api/v1/${name}`);
for (const path of ['/', '/ui/', '/livez', '/readyz', '/metrics', ...DOCUMENTS]) ALLOWED.set(path, ['GET', 'HEAD']);
for (const { path, method } of ENDPOINTS) {
  const full = `/api/v1${path}`;
  ALLOWED.set(full, [...(ALLOWED.get(full) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
}
const PATHS = [...ALLOWED].map(([path, allowed]) => ({ path, allowed }));

const call = (method: string, path: string, headers = {}) =>
  service.http.call(method, pathOf({ path }, target), { headers });
const allowOf = ({ status, headers }: HttpResponse) => ({ status, allow: (headers.allow ?? '').split(', ').sort() });

describe('the API', () => {
  it.each([
    ...['/api', '/api/v1', '//', '/api/v2/keys', '/api/v1/nope', '/api/v1/jobs', '/api/v1/spaces/http'],
    ...['/api/v1/jobs/x/nope', '/api/v1/jobs/x/ack/more', '/API/v1/keys', '/api/v1//keys', '/metrics.json', '/.env'],
  ])('responds to the unknown path %s with 404 for any method, without a key', async (path) => {
    for (const method of [...METHODS, 'OPTIONS']) {
      const { status, body } = await call(method, path);
      const expected = method === 'HEAD' ? null : { error: 'No such path', code: 'NOT_FOUND' };
      expect({ method, status, body }).toEqual({ method, status: 404, body: expected });
    }
  });

  it.each(['/', '/livez', '/readyz', '/metrics'])(
    'ignores unknown query parameters of %s, because probes and browsers send them',
    async (path) => expect((await call('GET', `${path}?_=1`)).status).toBe(200),
  );

  it('responds to / with links to the paths that need no API key', async () => {
    const { status, body } = await call('GET', '/');
    const links = {
      ui: '/ui/',
      info: '/api/v1/info',
      openapi: '/api/v1/openapi.json',
      asyncapi: '/api/v1/asyncapi.json',
      streams: '/api/v1/streams.schema.json',
      livez: '/livez',
      readyz: '/readyz',
      metrics: '/metrics',
    };
    expect({ status, body }).toEqual({ status: 200, body: { name: 'yardmaster', version: VERSION, links } });
    for (const path of Object.values(links)) expect((await call('GET', path)).status).toBe(200);
  });

  it.each(PATHS)('responds to other methods of $path with 405 and Allow, without a key', async ({ path, allowed }) => {
    const allow = [...allowed, 'OPTIONS'].sort();
    for (const method of METHODS.filter((one) => !allowed.includes(one))) {
      const response = await call(method, path);
      expect({ method, ...allowOf(response) }).toEqual({ method, status: 405, allow });
      const body = { error: expect.any(String), code: 'METHOD_NOT_ALLOWED' };
      expect(response.body).toEqual(method === 'HEAD' ? null : body);
    }
    const options = await call('OPTIONS', path);
    expect({ ...allowOf(options), text: options.text }).toEqual({ status: 204, allow, text: '' });
  });

  // Without /metrics, because it is never the same twice: test/metrics.
  it('responds to a refused HEAD like a GET without a body', async () => {
    const headers = { 'x-api-key': ADMIN_KEY, 'x-request-id': 'same' };
    const got = await call('GET', '/api/v1/jobs/nope', headers);
    const head = await call('HEAD', '/api/v1/jobs/nope', headers);
    expect(got.status).toBe(404);
    expect(head).toEqual({ ...got, headers: { ...got.headers, date: head.headers.date }, text: '', body: null });
  });

  const readable = PATHS.filter(({ path, allowed }) => allowed.includes('GET') && path !== '/metrics');
  it.each(readable)('responds to HEAD $path like a GET without a body', async ({ path }) => {
    const headers = { 'x-api-key': ADMIN_KEY, 'x-request-id': 'same' };
    const got = await call('GET', path, headers);
    const head = await call('HEAD', path, headers);
    expect(got.status).toBe(200);
    expect(head).toEqual({ ...got, headers: { ...got.headers, date: head.headers.date }, text: '', body: null });
  });

  it.each([
    ['GET', '/api/v1/jobs/%'],
    ['GET', '/api/v1/jobs/%zz'],
    ['HEAD', '/api/v1/jobs/%ff'],
    ['POST', '/api/v1/jobs/%c3%28/ack'],
    ['GET', '/api/v1/spaces/%E0%A4%A/jobs'],
    ['POST', '/api/v1/spaces/a%2/jobs/poll'],
    ['POST', '/api/v1/spaces/%ed%a0%80/jobs'],
    ['DELETE', '/api/v1/keys/%'],
    ['PUT', '/api/v1/keys/%'],
    ['OPTIONS', '/api/v1/keys/%'],
  ])('refuses %s %s with 400 because of its encoding', async (method, path) => {
    const { status, body } = await call(method, path);
    const expected = { error: 'path must be valid percent-encoding', code: 'INVALID_REQUEST' };
    expect({ status, body }).toEqual({ status: 400, body: method === 'HEAD' ? null : expected });
  });
});

it.each(['?name=%C3', '?q=a%', '?name=a&tag=%zz'])('refuses the query %s with 400', async (query) => {
  const { status, body } = await service.call('GET', `/spaces/http/jobs${query}`);
  const expected = { error: 'query must be valid percent-encoding', code: 'INVALID_REQUEST' };
  expect({ status, body }).toEqual({ status: 400, body: expected });
});

describe('headers of a response', () => {
  const RESPONSES: [status: number, ask: () => Promise<HttpResponse>][] = [
    [200, () => call('GET', '/livez')],
    [200, () => service.call('GET', '/spaces/http/jobs')],
    [201, () => service.call('POST', '/spaces/http/jobs', { body: { name: 'work' } })],
    [400, () => service.call('POST', '/spaces/http/jobs', { raw: '{' })],
    [401, () => call('GET', '/api/v1/keys')],
    [403, async () => service.call('GET', '/keys', { key: (await service.key(['jobs:read'])).key })],
    [404, () => call('GET', '/nope')],
    [404, () => service.call('GET', '/jobs/nope')],
    [405, () => call('PUT', '/api/v1/keys')],
    [409, () => service.call('POST', `/jobs/${target.jobId}/ack`)],
    [413, () => service.call('POST', '/spaces/http/jobs', { raw: ' '.repeat(1_048_577) })],
    [415, () => service.call('POST', '/spaces/http/jobs', { raw: 'x', headers: { 'content-type': 'a/b' } })],
  ];

  it.each(RESPONSES)(
    'sends a %i response as JSON with a newline, a link to its error, no caching and no framework name',
    async (status, ask) => {
      const { headers, ...response } = await ask();
      expect({ status: response.status, end: response.text.at(-1) }).toEqual({ status, end: '\n' });
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(Buffer.byteLength(response.text)),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String),
      });
      const page = 'https://github.com/yardmaster/yardmaster/blob/main/docs/errors.md';
      const help = `<${page}#${response.body.code?.toLowerCase()}>; rel="help"`;
      expect(headers.link).toBe(status < 400 ? undefined : help);
      const known = ['content-type', 'content-length', 'cache-control', 'x-content-type-options', 'x-request-id'];
      const others = ['date', 'connection', 'keep-alive', 'accept', 'allow', 'link'];
      expect(Object.keys(headers).filter((header) => ![...known, ...others].includes(header))).toEqual([]);
    },
  );
});

describe('x-request-id', () => {
  const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  const idOf = async (headers: Record<string, string | string[]>, path = '/livez', method = 'GET') =>
    (await call(method, path, headers)).headers['x-request-id'];

  it.each(['a', 'req-42', '!~{}[]"\\', 'x'.repeat(128), '0'])('returns a valid x-request-id: %s', async (id) => {
    expect(await idOf({ 'x-request-id': id })).toBe(id);
  });

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['two words', 'a b'],
    ['a tab', 'a\tb'],
    ['not ASCII', 'é'],
    ['given twice', ['a', 'b']],
  ])('replaces an x-request-id that is %s', async (_, id) => {
    expect(await idOf({ 'x-request-id': id })).toMatch(UUID);
  });

  it('creates a new x-request-id for each request that has none', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => idOf({})));
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(50);
  });

  it.each(['/api/v1/keys', '/nope', '/api/v1/jobs/%zz', '/api/v1/spaces/a%20b/jobs'])(
    'returns the x-request-id of the client with the refusal of %s, and with OPTIONS',
    async (path) => {
      expect(await idOf({ 'x-request-id': 'mine' }, path)).toBe('mine');
      expect(await idOf({ 'x-request-id': 'mine' }, path, 'OPTIONS')).toBe('mine');
    },
  );
});
