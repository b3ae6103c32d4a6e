import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { finder } from '../../apps/api/src/direct.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { headOf, OTHERS, type RawCall, type Spelling, sendRaw, USUAL } from './spellings.js';

/** Rows that a producer or a worker calls; whichever is added belongs to them. */
const ROWS = ROUTES.filter(({ method, path }) => method === 'POST' && /:(spaceId|jobId)/.test(path));
const JOB = `00${'a'.repeat(26)}`;
const fill = (path: string) => path.replace(':jobId', JOB).replace(':spaceId', 'a.b:c_D-9');

describe('the row of a call', () => {
  const find = finder(ROUTES);

  it('there are some', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(13);
  });

  it.each(ROWS)('is found at once for POST $path', (row) => {
    const params = row.path.includes(':jobId') ? { jobId: JOB } : { spaceId: 'a.b:c_D-9' };
    expect(find(fill(row.path))).toEqual({ route: row, params });
  });

  it.each([
    '/api/v1/keys',
    '/api/v1/spaces/a',
    '/api/v1/spaces/a/stats',
    '/api/v1/spaces/a/ack',
    '/api/v1/jobs/a',
    '/api/v1/jobs/a/jobs',
    '/api/v1/jobs/a/poll',
    '/api/v1/jobs/a/constructor',
    '/api/v1/jobs/a/ACK',
    '/api/v1/jobs//ack',
    '/api/v1/jobs/a//ack',
    `/api/v1/jobs/${'a'.repeat(129)}/ack`,
    '/api/v1/jobs/a b/ack',
    '/api/v1/jobs/ä/ack',
    '/api/v1/jobs/a/ack\n',
    '/api/v1/jobs/a/ack#x',
    '//api/v1/jobs/a/ack',
    '/API/v1/jobs/a/ack',
    'x/api/v1/jobs/a/ack',
    '*',
    '',
  ])('is left to Express to find for %j', (path) => {
    expect(find(path)).toBeNull();
  });

  it.each(OTHERS.filter(({ lines }) => lines === undefined))('is left to Express when written $name', ({ target }) => {
    for (const { path } of ROWS) expect(find(target(fill(path)))).toBeNull();
  });
});

describe('in a service for the pages of everybody', () => {
  // Every answer of Express' has the header of CORS here, to whomever; so it tells who served.
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ CORS_ORIGINS: '*' });
  });
  afterAll(() => service.stop());

  const send = async ({ target, lines = [] }: Spelling, path: string, call: Partial<RawCall> = {}) =>
    headOf(
      await sendRaw(service.url, {
        target: target(fill(path)),
        lines: ['Host: localhost', `x-api-key: ${ADMIN_KEY}`, ...lines],
        ...call,
      }),
    );

  it.each(ROWS)('POST $path is served past Express when it is written as usual, and only then', async ({ path }) => {
    const usual = await send(USUAL, path);
    expect(usual.headers['access-control-allow-origin']).toBeUndefined();
    for (const other of OTHERS) {
      const { status, headers } = await send(other, path);
      expect({
        other,
        status,
        origin: headers['access-control-allow-origin'],
      }).toEqual({ other, status: usual.status, origin: '*' });
    }
  });

  it.each(ROWS)('every other method of $path is answered by Express', async ({ path }) => {
    const methods = ROUTES.filter((row) => row.path === path).flatMap(({ method }) =>
      method === 'GET' ? ['GET', 'HEAD'] : method,
    );
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'PATCH']) {
      const { status, headers } = await send(USUAL, path, { method, lines: ['Host: localhost'] });
      const expected = method === 'OPTIONS' ? 204 : methods.includes(method) ? 401 : 405;
      expect({
        method,
        status,
        origin: headers['access-control-allow-origin'],
      }).toEqual({ method, status: expected, origin: '*' });
      if (expected !== 401) expect(headers.allow?.split(', ').sort()).toEqual([...methods, 'OPTIONS'].sort());
    }
  });
});

describe('in a service for the pages of one origin', () => {
  const page = 'https://app.example.com';
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ CORS_ORIGINS: page });
  });
  afterAll(() => service.stop());
  const poll = (headers: Record<string, string>) => service.call('POST', '/spaces/a/jobs/poll', { headers });

  it('lets that page read what it is answered, and no other', async () => {
    const [own, strange] = [await poll({ origin: page }), await poll({ origin: 'https://evil.example.com' })];
    expect(own).toMatchObject({
      status: 200,
      headers: { 'access-control-allow-origin': page, 'access-control-expose-headers': 'x-request-id,retry-after' },
    });
    expect(strange).toMatchObject({ status: 200, headers: { vary: 'Origin' } });
    expect(strange.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('lets that page read what it is refused for', async () => {
    const refused = await service.call('POST', '/spaces/a/jobs/poll', { key: undefined, headers: { origin: page } });
    expect(refused).toMatchObject({ status: 401, headers: { 'access-control-allow-origin': page } });
  });
});
