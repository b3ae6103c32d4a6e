import { beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES, type Scope } from '@yardmaster/protocol';
import { withApiProcess } from '../logs/api-process.js';
import type { CallOptions } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { type TestService, withService } from '../support/service.js';
import { ADMIN_KEY, sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { callEndpoint, ENDPOINTS, type Endpoint, stateOf, targetFor, UNKNOWN } from './endpoints.js';

/** The scopes for which `jobs:worker` stands. */
const OF_WORKER: readonly Scope[] = [
  ...(['jobs:read', 'jobs:poll', 'jobs:ack', 'jobs:progress', 'jobs:event'] as const),
  ...(['jobs:complete', 'jobs:fail', 'jobs:keepalive'] as const),
];

/** Return the scopes that each grant a call. */
const grantsOf = ({ scopes }: Endpoint): Scope[] =>
  scopes.some((scope) => OF_WORKER.includes(scope)) ? [...scopes, 'jobs:worker'] : [...scopes];

const ALL_SCOPES = [...new Set(ENDPOINTS.flatMap(grantsOf))];

/** One key for each scope that has no other scope, and the admin key. */
const keys = new Map<string, string>([['ADMIN_API_KEY', ADMIN_KEY]]);
/** A key with every scope, only in the space `own`. */
let bound: string;

const service = withService();
/** Another process in front of the same jobs, with a cache of keys of its own. */
const other = withApiProcess(service);
beforeAll(async () => {
  for (const scope of ALL_SCOPES) keys.set(scope, (await service.key([scope])).key);
  bound = (await service.key(ALL_SCOPES, { spaceId: 'own' })).key;
});

const UNAUTHENTICATED = { error: expect.any(String), code: 'UNAUTHENTICATED' };

it('the endpoints in the tests require every scope of the protocol', () => {
  expect([...SCOPES].sort()).toEqual([...ALL_SCOPES].sort());
});

describe.each(ENDPOINTS)('$name', (endpoint) => {
  const granting = grantsOf(endpoint);
  const callIn = async (spaceId: string, key: string | undefined) =>
    (await callEndpoint(service, endpoint, await targetFor(service, endpoint, spaceId), { key })).status;
  /** Expect that calls in a space are refused and change nothing. */
  async function expectForbidden(spaceId: string, refused: (string | undefined)[], error: unknown) {
    const target = await targetFor(service, endpoint, spaceId);
    const before = await stateOf(service, target);
    for (const key of refused) {
      const { status, body } = await callEndpoint(service, endpoint, target, { key });
      expect({ key, status, body }).toEqual({ key, status: 403, body: { error, code: 'FORBIDDEN' } });
    }
    expect(await stateOf(service, target)).toEqual(before);
  }

  it.each([...granting, 'ADMIN_API_KEY'])(`allows ${endpoint.name} with %s`, async (scope) => {
    const scopes = [scope as Scope, ...(endpoint.also ?? [])];
    const key = scopes.length > 1 && scope !== 'ADMIN_API_KEY' ? (await service.key(scopes)).key : keys.get(scope);
    expect(await callIn('matrix', key)).toBe(endpoint.success ?? 200);
  });

  if (endpoint.scopes.length === 0) {
    it(`allows ${endpoint.name} with any scope`, async () => {
      for (const key of [...keys.values(), bound]) expect(await callIn('any', key)).toBe(200);
    });
    return;
  }

  it(`refuses ${endpoint.name} with any other scope, changes nothing, and names the missing scope`, async () => {
    const others = ALL_SCOPES.filter((scope) => !granting.includes(scope)).map((scope) => keys.get(scope));
    await expectForbidden('matrix-refused', others, `Missing required scope: ${endpoint.scopes[0]}`);
  });

  if (endpoint.also) {
    it(`refuses ${endpoint.name} with only one of the scopes that it requires`, async () => {
      const only = granting.map((scope) => keys.get(scope));
      await expectForbidden('matrix-refused', only, `Missing required scope: ${endpoint.also?.[0]}`);
    });
  }

  if (!endpoint.path.includes(':')) return; // bound-keys.test.ts tests what these do for a key that is bound to a space.
  it(`allows ${endpoint.name} with a key bound to the space, and refuses it in any other space`, async () => {
    expect(await callIn('own', bound)).toBe(endpoint.success ?? 200);
    for (const space of ['other', 'OWN'])
      await expectForbidden(space, [bound], 'The API key is bound to another space');
  });

  if (!endpoint.path.includes(':jobId')) return;
  it(`refuses ${endpoint.name} with 404 for a job that does not exist`, async () => {
    for (const jobId of ['nope', UNKNOWN.jobId]) {
      const { status, body } = await callEndpoint(service, endpoint, { ...UNKNOWN, jobId }, { key: bound });
      expect({ status, body }).toEqual({ status: 404, body: { error: 'Job not found', code: 'JOB_NOT_FOUND' } });
    }
  });
});

it('allows a call to a key that has one of several granting scopes', async () => {
  const { key } = await service.key(['jobs:create', 'jobs:kill']);
  const { id } = await createJob(service, 'several');
  const status = async (method: string, path: string, body?: unknown) =>
    (await service.call(method, path, { key, body })).status;
  expect(await status('POST', '/spaces/several/jobs', { name: 'work' })).toBe(201);
  expect(await status('POST', `/jobs/${id}/kill`)).toBe(200);
  expect(await status('GET', `/jobs/${id}`)).toBe(403);
});

it.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])(
  'accepts a key as a Bearer token at every endpoint after %j',
  async (scheme) => {
    const { key } = await service.key(ALL_SCOPES);
    const options = { key: undefined, headers: { authorization: `${scheme} ${key}` } };
    for (const endpoint of ENDPOINTS) {
      const { status } = await callEndpoint(service, endpoint, await targetFor(service, endpoint, 'bearer'), options);
      expect({ endpoint: endpoint.name, status }).toEqual({
        endpoint: endpoint.name,
        status: endpoint.success ?? 200,
      });
    }
  },
);

it('treats a key as a Bearer token exactly like a key in x-api-key', async () => {
  const { key } = await service.key(['jobs:read'], { spaceId: 'own' });
  const list = async (space: string, method = 'GET') =>
    (
      await service.call(method, `/spaces/${space}/jobs`, {
        key: undefined,
        headers: { authorization: `Bearer ${key}` },
      })
    ).status;
  expect([await list('own'), await list('other'), await list('own', 'POST')]).toEqual([200, 403, 403]);
});

it.each(['Bearer garbage', 'Basic dXNlcjpwYXNz', ''])(
  'ignores the Authorization header %j if there is an x-api-key',
  async (authorization) => {
    const { key } = await service.key(['jobs:read']);
    expect((await service.call('GET', '/spaces/a/jobs', { key, headers: { authorization } })).status).toBe(200);
  },
);

describe('calls without a valid key', () => {
  const secret = 'f'.repeat(64);
  const CREDENTIALS: [what: string, options: (existing: { id: string; key: string }) => CallOptions][] = [
    ['no key', () => ({ key: undefined })],
    ['an empty key', () => ({ key: '' })],
    ['garbage', () => ({ key: 'garbage' })],
    ['garbage of the right shape', () => ({ key: `ym_aaaaaaaaaaaaaaaa_${secret}` })],
    ['the wrong secret of an existing key', ({ id }) => ({ key: `ym_${id}_${secret}` })],
    ['no secret of an existing key', ({ id }) => ({ key: `ym_${id}_` })],
    ['the secret cut short', ({ key }) => ({ key: key.slice(0, -1) })],
    ['a character too many', ({ key }) => ({ key: `${key}0` })],
    ['another last character', ({ key }) => ({ key: `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}` })],
    ['the secret in capitals', ({ id, key }) => ({ key: `ym_${id}_${(key.split('_')[2] as string).toUpperCase()}` })],
    ['two keys in one header', ({ key }) => ({ key: `${key}, ${key}` })],
    ['the admin key with a character too many', () => ({ key: `${ADMIN_KEY}x` })],
    ['a field name of every object', () => ({ key: '__proto__' })],
    ['a key of another scheme', ({ key }) => ({ key: undefined, headers: { authorization: `Basic ${key}` } })],
    ['a key without a scheme', ({ key }) => ({ key: undefined, headers: { authorization: key } })],
    ['a wrong Bearer token', ({ key }) => ({ key: undefined, headers: { authorization: `Bearer ${key}0` } })],
    [
      'a wrong key before a right token',
      ({ key }) => ({ key: 'garbage', headers: { authorization: `Bearer ${key}` } }),
    ],
    ['an empty key before a right token', ({ key }) => ({ key: '', headers: { authorization: `Bearer ${key}` } })],
    ['8 KB of nothing', () => ({ key: 'a'.repeat(8_192) })],
  ];

  it.each(CREDENTIALS)(
    'refuses %s with 401 at every endpoint, both before and after an existing key is cached',
    async (_, options) => {
      const existing = await service.key(ALL_SCOPES);
      const target = {
        ...UNKNOWN,
        spaceId: 'locked',
        jobId: await jobIn(service, 'pending', 'locked'),
        keyId: existing.id,
      };
      const before = await stateOf(service, target);
      for (const isKnown of [false, true]) {
        if (isKnown) expect((await service.call('GET', '/keys', { key: existing.key })).status).toBe(200);
        for (const endpoint of ENDPOINTS) {
          const { status, body } = await callEndpoint(service, endpoint, target, options(existing));
          expect({ endpoint: endpoint.name, status, body }).toMatchObject({ status: 401, body: UNAUTHENTICATED });
        }
      }
      expect(await stateOf(service, target)).toEqual(before);
    },
  );

  it('refuses a key in the query of a call, because only streams accept one there', async () => {
    const { key } = await service.key(['jobs:read']);
    const response = await service.call('GET', `/spaces/locked/jobs?token=${key}&x-api-key=${key}`, { key: undefined });
    expect(response).toMatchObject({ status: 401, body: UNAUTHENTICATED });
  });
});

describe('a key that has ended', () => {
  const list = async (key: string, at: Pick<TestService, 'call'> = service) =>
    (await at.call('GET', '/spaces/ended/jobs', { key })).status;

  it('refuses a key once its revocation is confirmed', async () => {
    for (let i = 0; i < 10; i++) {
      const { id, key } = await service.key(['jobs:read']);
      expect(await list(key)).toBe(200);
      expect(await service.call('DELETE', `/keys/${id}`)).toMatchObject({ status: 200, body: { success: true } });
      // Of several processes, those that did not get the request hear of it a moment later.
      if (sharedService().isBehindProxy) await until(async () => (await list(key)) === 401);
      const refused = await service.call('GET', '/spaces/ended/jobs', { key });
      expect(refused).toMatchObject({ status: 401, body: UNAUTHENTICATED });
    }
  });

  it('refuses a cached key in another process as soon as that process learns of its revocation', async () => {
    // On a cluster, announcements use other commands, so no process would hear the second case.
    for (const isRevoked of sharedService().isBehindProxy ? [true] : [true, false]) {
      const { id, key } = await service.key(['jobs:read']);
      await until(async () => (await list(key, other)) === 200);
      // Announced and not done: so the refusal does not come from a cache that forgot the key and asked Redis again.
      if (isRevoked) await service.call('DELETE', `/keys/${id}`);
      else await service.redis.publish(service.store.keys.revocations, id);
      await until(async () => (await list(key, other)) === 401);
    }
  });

  it('lets a key revoke itself, then refuses it, and does not revoke it again', async () => {
    const { id, key } = await service.key(['keys:manage']);
    expect((await service.call('DELETE', `/keys/${id}`, { key })).status).toBe(200);
    expect((await service.call('GET', '/keys', { key })).status).toBe(401);
    const { status, body } = await service.call('DELETE', `/keys/${id}`);
    expect({ status, body }).toEqual({ status: 404, body: { error: 'Key not found', code: 'KEY_NOT_FOUND' } });
  });

  it('refuses a key that expires while it is cached', async () => {
    const soon = await service.key(['jobs:read'], { expiresAt: new Date(Date.now() + 5_000).toISOString() });
    await list(soon.key);
    await until(async () => (await list(soon.key)) === 401);
  });
});

describe('the order of checks: path, key, scope, body, job', () => {
  const CODES: Record<number, string> = { 400: 'INVALID_REQUEST', 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN' };
  const JOBS = 'POST /spaces/order/jobs';
  const ACK_OF_UNKNOWN = `POST /jobs/${UNKNOWN.jobId}/ack`;
  const broken: CallOptions = { raw: '{' };
  const empty: CallOptions = { body: {} };
  const tooLarge: CallOptions = { raw: ' '.repeat(1_100_000) };
  const text: CallOptions = { raw: '{}', headers: { 'content-type': 'text/plain' } };
  type By = Scope | 'bound' | null;

  // PENDING and ELSEWHERE are jobs, one in the space `order` and one in another space.
  const rows: [what: string, call: string, by: By, status: number, options?: CallOptions][] = [
    ['a bad spaceId is 400 without a key', 'POST /spaces/a%20b/jobs', null, 400, broken],
    ['a bad spaceId beats a missing scope', 'POST /spaces/a%20b/jobs', 'jobs:read', 400],
    ['no key beats a bad body', JOBS, null, 401, broken],
    ['no key beats a bad query', 'GET /spaces/order/jobs?limit=x', null, 401],
    ['no key beats an unknown job', ACK_OF_UNKNOWN, null, 401],
    ['a missing scope beats a bad body', JOBS, 'jobs:read', 403, broken],
    ['a missing scope beats a body over the limit', JOBS, 'jobs:read', 403, tooLarge],
    ['a missing scope beats a wrong content type', JOBS, 'jobs:read', 403, text],
    ['a missing scope beats a bad query', 'GET /spaces/order/jobs?limit=x', 'jobs:create', 403],
    ['a missing scope beats an unknown job', ACK_OF_UNKNOWN, 'jobs:read', 403],
    ['another space in the path beats a bad body', 'POST /spaces/other/jobs', 'bound', 403, broken],
    ['a bad body beats an unknown job', `POST /jobs/${UNKNOWN.jobId}/progress`, 'jobs:progress', 400, broken],
    ['a bad body beats a job of another space', 'POST /jobs/ELSEWHERE/progress', 'bound', 400, empty],
    ['a bad body beats a wrong state', 'POST /jobs/PENDING/progress', 'jobs:progress', 400, empty],
    ['a job of another space beats a wrong state', 'POST /jobs/ELSEWHERE/keepalive', 'bound', 403],
  ];

  it.each(rows)(
    'checks a call in the order path, key, scope, body, job: %s',
    async (_, call, by, status, options = {}) => {
      const [method, path] = call.split(' ') as [string, string];
      const [pending, elsewhere] = [(await createJob(service, 'order')).id, (await createJob(service, 'other')).id];
      const filled = path.replace('PENDING', pending).replace('ELSEWHERE', elsewhere);
      const key = by === 'bound' ? bound : keys.get(by ?? '');
      const response = await service.call(method, filled, { ...options, key });
      expect({ status: response.status, code: response.body.code }).toEqual({ status, code: CODES[status] });
    },
  );
});
