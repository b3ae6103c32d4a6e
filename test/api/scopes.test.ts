import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi, ROUTES } from '@yardmaster/api';
import { SCOPES, type Scope, type Status } from '@yardmaster/protocol';
import type { Answer, CallOptions } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

interface Endpoint {
  /** As §5.4 calls it. */
  name: string;
  method: string;
  path: string;
  /** Any one of them will do (§4). */
  scopes: readonly Scope[];
  /** Status in which a job takes this call. Default pending. */
  on?: Status;
  body?: unknown;
  /** Status of a success. Default 200. */
  success?: number;
}

/** Port 9 discards, if anybody listens there at all. */
const NOWHERE = 'http://127.0.0.1:9/';

const PROGRESS = { percent: 50, message: 'half' };

/** Name of the keys that `Create Key` makes. */
const MADE = 'made in the matrix';

/** §4, written down again on purpose: the table of the product must not be its own judge. The keys are contract §5. */
const ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'Create Job',
    method: 'POST',
    path: '/spaces/:spaceId/jobs',
    scopes: ['jobs:create'],
    body: { name: 'work' },
    success: 201,
  },
  { name: 'List Jobs', method: 'GET', path: '/spaces/:spaceId/jobs', scopes: ['jobs:read'] },
  { name: 'Get Space Statistics', method: 'GET', path: '/spaces/:spaceId/stats', scopes: ['jobs:read'] },
  { name: 'Poll for Jobs', method: 'POST', path: '/spaces/:spaceId/jobs/poll', scopes: ['jobs:poll'] },
  { name: 'Claim Specific Job', method: 'POST', path: '/jobs/:jobId/claim', scopes: ['jobs:poll'] },
  { name: 'Get Job', method: 'GET', path: '/jobs/:jobId', scopes: ['jobs:read'] },
  {
    name: 'Get Job Progress',
    method: 'GET',
    path: '/jobs/:jobId/progress',
    scopes: ['jobs:read:progress', 'jobs:read'],
  },
  { name: 'Get Job Logs', method: 'GET', path: '/jobs/:jobId/logs', scopes: ['jobs:read'] },
  { name: 'Acknowledge Job', method: 'POST', path: '/jobs/:jobId/ack', scopes: ['jobs:ack'], on: 'delivered' },
  {
    name: 'Report Progress',
    method: 'POST',
    path: '/jobs/:jobId/progress',
    scopes: ['jobs:progress'],
    on: 'running',
    body: PROGRESS,
  },
  { name: 'Checkpoint', method: 'POST', path: '/jobs/:jobId/checkpoint', scopes: ['jobs:event'], on: 'running' },
  { name: 'Custom Event', method: 'POST', path: '/jobs/:jobId/event', scopes: ['jobs:event'], on: 'running' },
  { name: 'Append Logs', method: 'POST', path: '/jobs/:jobId/logs', scopes: ['jobs:event'], body: ['a line'] },
  { name: 'Complete Job', method: 'POST', path: '/jobs/:jobId/complete', scopes: ['jobs:complete'], on: 'running' },
  {
    name: 'Fail Job',
    method: 'POST',
    path: '/jobs/:jobId/fail',
    scopes: ['jobs:fail'],
    on: 'running',
    body: { error: 'no' },
  },
  { name: 'Kill Job', method: 'POST', path: '/jobs/:jobId/kill', scopes: ['jobs:kill'] },
  { name: 'Keepalive', method: 'POST', path: '/jobs/:jobId/keepalive', scopes: ['jobs:keepalive'], on: 'running' },
  {
    name: 'Redeliver Callback',
    method: 'POST',
    path: '/jobs/:jobId/callback/redeliver',
    scopes: ['jobs:create'],
    on: 'completed',
  },
  {
    name: 'Create Key',
    method: 'POST',
    path: '/keys',
    scopes: ['keys:manage'],
    body: { name: MADE, scopes: ['jobs:read'] },
    success: 201,
  },
  { name: 'List Keys', method: 'GET', path: '/keys', scopes: ['keys:manage'] },
  { name: 'Revoke Key', method: 'DELETE', path: '/keys/:keyId', scopes: ['keys:manage'] },
];

const WORKER = [
  'List Jobs',
  'Get Space Statistics',
  'Get Job',
  'Get Job Logs',
  'Get Job Progress',
  'Poll for Jobs',
  'Claim Specific Job',
  'Acknowledge Job',
  'Report Progress',
  'Checkpoint',
  'Custom Event',
  'Append Logs',
  'Complete Job',
  'Fail Job',
  'Keepalive',
];

/** §5.4, the same facts from the other side. */
const GRANTS: Record<Scope, readonly string[]> = {
  'jobs:create': ['Create Job', 'Redeliver Callback'],
  'jobs:read': ['List Jobs', 'Get Space Statistics', 'Get Job', 'Get Job Logs', 'Get Job Progress'],
  'jobs:read:progress': ['Get Job Progress'],
  'jobs:poll': ['Poll for Jobs', 'Claim Specific Job'],
  'jobs:ack': ['Acknowledge Job'],
  'jobs:progress': ['Report Progress'],
  'jobs:event': ['Checkpoint', 'Custom Event', 'Append Logs'],
  'jobs:complete': ['Complete Job'],
  'jobs:fail': ['Fail Job'],
  'jobs:kill': ['Kill Job'],
  'jobs:keepalive': ['Keepalive'],
  'jobs:worker': WORKER,
  'keys:manage': ['Create Key', 'List Keys', 'Revoke Key'],
};
const ALL_SCOPES = Object.keys(GRANTS) as Scope[];
const JOB_SCOPES = ALL_SCOPES.filter((scope) => scope !== 'keys:manage');

let service: TestService;
/** One key per scope that holds nothing else. */
const keys = new Map<Scope, string>();
/** Every scope on jobs, in the space `own` only. */
let bound: string;

beforeAll(async () => {
  service = await startService({}, { app: createApi }); // Nothing moves a job here but calls.
  for (const scope of ALL_SCOPES) keys.set(scope, (await service.key([scope])).key);
  bound = (await service.key(JOB_SCOPES, { spaceId: 'own' })).key;
});
afterAll(() => service.stop());

const UNKNOWN_JOBS = ['nope', '00aaaaaaaaaaaaaaaaaaaaaaaaaa'];

/** As the service lists it. */
interface Key {
  id: string;
  name: string;
}

interface Target {
  spaceId: string;
  jobId: string;
  keyId: string;
}

/** What an endpoint needs to succeed: a job in the right status, or a key to revoke. */
async function targetFor({ path, on = 'pending' }: Endpoint, spaceId: string): Promise<Target> {
  return {
    spaceId,
    jobId: path.includes(':jobId') ? await jobIn(service, on, spaceId, { callbackUrl: NOWHERE }) : '',
    keyId: path.includes(':keyId') ? (await service.key(['jobs:read'])).id : '',
  };
}

function callEndpoint({ method, path, body }: Endpoint, target: Target, options: CallOptions): Promise<Answer> {
  const filled = path.replace(/:(\w+)/, (_, name) => target[name as keyof Target]);
  return service.call(method, filled, { body, ...options });
}

/** Everything a refused call could have changed; what others do at the same time on a service that is shared left out. */
async function stateOf({ spaceId, jobId, keyId }: Target): Promise<unknown[]> {
  const read = async (path: string) => (await service.call('GET', path)).body;
  const jobs = await read(`/spaces/${spaceId}/jobs?limit=100`);
  const known = (await read('/keys')).filter((key: Key) => key.name === MADE || key.id === keyId);
  if (jobId === '') return [jobs, known];
  const job = await read(`/jobs/${jobId}`);
  const events = job.events.filter(({ type }: { type: string }) => !type.startsWith('callback_'));
  return [jobs, known, { ...job, events, updatedAt: null }];
}

const listOf = (rows: readonly { method: string; path: string }[]) =>
  rows.map(({ method, path }) => `${method} ${path.replace('/api/v1', '')}`).sort();

describe('the tables', () => {
  it('list the same endpoints as the routes', () => {
    expect(listOf(ROUTES)).toEqual(listOf(ENDPOINTS));
  });

  it('know the same scopes as the protocol', () => {
    expect([...SCOPES].sort()).toEqual([...ALL_SCOPES].sort());
  });

  it('agree with each other: whatever §4 asks for, §5 grants', () => {
    for (const { name, scopes } of ENDPOINTS) {
      const granting = ALL_SCOPES.filter((scope) => scope !== 'jobs:worker' && GRANTS[scope].includes(name));
      expect(granting.sort()).toEqual([...scopes].sort());
    }
  });
});

describe('every scope × every endpoint', () => {
  const cases = ALL_SCOPES.flatMap((scope) =>
    ENDPOINTS.map((endpoint) => ({
      scope,
      endpoint,
      name: endpoint.name,
      mayCall: GRANTS[scope].includes(endpoint.name),
    })),
  );

  it.each(cases.filter(({ mayCall }) => mayCall))('$scope allows $name', async ({ scope, endpoint }) => {
    const target = await targetFor(endpoint, 'matrix');
    const { status } = await callEndpoint(endpoint, target, { key: keys.get(scope) });
    expect(status).toBe(endpoint.success ?? 200);
  });

  it.each(cases.filter(({ mayCall }) => !mayCall))('$scope does not allow $name', async ({ scope, endpoint }) => {
    const target = await targetFor(endpoint, 'matrix-refused');
    const before = await stateOf(target);

    const { status, body } = await callEndpoint(endpoint, target, { key: keys.get(scope) });

    expect(status).toBe(403);
    expect(body).toEqual({ error: expect.any(String), code: 'FORBIDDEN' });
    expect(body.error.split(' ')).toEqual(expect.arrayContaining([...endpoint.scopes]));
    expect(await stateOf(target)).toEqual(before);
  });

  it.each(ENDPOINTS)('ADMIN_API_KEY allows $name', async (endpoint) => {
    const { status } = await callEndpoint(endpoint, await targetFor(endpoint, 'admin'), { key: ADMIN_KEY });
    expect(status).toBe(endpoint.success ?? 200);
  });

  it('allows what any of several scopes grants', async () => {
    const { key } = await service.key(['jobs:create', 'jobs:kill']);
    const { id } = await createJob(service, 'several');
    const status = async (method: string, path: string, body?: unknown) =>
      (await service.call(method, path, { key, body })).status;
    expect(await status('POST', '/spaces/several/jobs', { name: 'work' })).toBe(201);
    expect(await status('POST', `/jobs/${id}/kill`)).toBe(200);
    expect(await status('GET', `/jobs/${id}`)).toBe(403);
  });
});

describe('a key that is bound to a space', () => {
  const onJobs = ENDPOINTS.filter(({ path }) => path.startsWith('/jobs'));
  const onSpacesAndJobs = ENDPOINTS.filter(({ path }) => !path.startsWith('/keys'));

  it.each(onSpacesAndJobs)('may call $name in its space', async (endpoint) => {
    const { status } = await callEndpoint(endpoint, await targetFor(endpoint, 'own'), { key: bound });
    expect(status).toBe(endpoint.success ?? 200);
  });

  it.each(onSpacesAndJobs)('may not call $name in another space', async (endpoint) => {
    const target = await targetFor(endpoint, 'other');
    const before = await stateOf(target);

    const { status, body } = await callEndpoint(endpoint, target, { key: bound });

    expect(status).toBe(403);
    expect(body).toEqual({ error: expect.any(String), code: 'FORBIDDEN' });
    expect(await stateOf(target)).toEqual(before);
  });

  it.each(onJobs)('gets 404 from $name for a job that does not exist', async (endpoint) => {
    for (const jobId of UNKNOWN_JOBS) {
      const { status, body } = await callEndpoint(endpoint, { spaceId: '', jobId, keyId: '' }, { key: bound });
      expect(status).toBe(404);
      expect(body).toEqual({ error: 'Job not found', code: 'JOB_NOT_FOUND' });
    }
  });

  it('may not call the other space even when the names differ in case only', async () => {
    const { status } = await service.call('GET', '/spaces/OWN/jobs', { key: bound });
    expect(status).toBe(403);
  });

  it('cannot be made with keys:manage', async () => {
    const body = { name: 'too much', scopes: ['keys:manage'], spaceId: 'own' };
    const answer = await service.call('POST', '/keys', { body });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: 'scopes must not hold keys:manage when the key is bound to a space',
      code: 'INVALID_REQUEST',
    });
  });
});

describe('no valid key', () => {
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
    ['the secret in capitals', ({ id, key }) => ({ key: `ym_${id}_${(key.split('_')[2] as string).toUpperCase()}` })],
    ['two keys in one header', ({ key }) => ({ key: `${key}, ${key}` })],
    ['the admin key with a character too many', () => ({ key: `${ADMIN_KEY}x` })],
    ['a field name of every object', () => ({ key: '__proto__' })],
    ['a key in another header', ({ key }) => ({ key: undefined, headers: { authorization: `Bearer ${key}` } })],
    ['8 KB of nothing', () => ({ key: 'a'.repeat(8_192) })],
  ];

  it.each(CREDENTIALS)('%s is 401 at every endpoint', async (_, options) => {
    const existing = await service.key(ALL_SCOPES);
    const target = { spaceId: 'locked', jobId: await jobIn(service, 'pending', 'locked'), keyId: existing.id };
    const before = await stateOf(target);

    for (const endpoint of ENDPOINTS) {
      const { status, body } = await callEndpoint(endpoint, target, options(existing));
      expect({ endpoint: endpoint.name, status }).toEqual({ endpoint: endpoint.name, status: 401 });
      expect(body).toEqual({ error: expect.any(String), code: 'UNAUTHENTICATED' });
    }
    expect(await stateOf(target)).toEqual(before);
  });

  it('a key in the query is 401: only streams take one there', async () => {
    const { key } = await service.key(['jobs:read']);
    const answer = await service.call('GET', `/spaces/locked/jobs?token=${key}&x-api-key=${key}`, { key: undefined });
    expect(answer.status).toBe(401);
  });
});

describe('a key that has ended', () => {
  const list = (at: TestService, key: string) => at.call('GET', '/spaces/ended/jobs', { key });

  it('is refused once its revocation is answered', async () => {
    for (let i = 0; i < 20; i++) {
      const { id, key } = await service.key(['jobs:read']);
      expect((await list(service, key)).status).toBe(200);
      const revoked = await service.call('DELETE', `/keys/${id}`);
      expect(revoked).toMatchObject({ status: 200, body: { success: true } });
      // Of several processes, those that were not asked hear of it in no time, which is some.
      if (process.env.TEST_SERVICE_URL) await until(async () => (await list(service, key)).status === 401, 1_000);

      const { status, body } = await list(service, key);

      expect(status).toBe(401);
      expect(body).toEqual({ error: expect.any(String), code: 'UNAUTHENTICATED' });
    }
  });

  it('is refused by another process, which had it in its cache', async () => {
    const other = await startService({ KEY_PREFIX: service.prefix }, { check: false });
    try {
      const { id, key } = await service.key(['jobs:read']);
      expect((await list(other, key)).status).toBe(200);
      await service.call('DELETE', `/keys/${id}`);
      // Well below the 5 s for which a process may believe its cache: only the announcement is as quick as that.
      await until(async () => (await list(other, key)).status === 401, 2_000);
    } finally {
      await other.stop();
    }
  });

  it('cannot be revoked again', async () => {
    const { id } = await service.key(['jobs:read']);
    await service.call('DELETE', `/keys/${id}`);
    const { status, body } = await service.call('DELETE', `/keys/${id}`);
    expect(status).toBe(404);
    expect(body).toEqual({ error: 'Key not found', code: 'KEY_NOT_FOUND' });
  });

  it('may revoke itself, and is refused from then on', async () => {
    const { id, key } = await service.key(['keys:manage']);
    expect((await service.call('DELETE', `/keys/${id}`, { key })).status).toBe(200);
    expect((await service.call('GET', '/keys', { key })).status).toBe(401);
  });

  it('is refused when it was past its end from the start', async () => {
    const { key } = await service.key(['jobs:read'], { expiresAt: '2020-01-01T00:00:00.000Z' });
    expect((await list(service, key)).status).toBe(401);
  });

  it('is refused when it ends while it is in the cache', async () => {
    const expiresAt = new Date(Date.now() + 700).toISOString();
    const { key } = await service.key(['jobs:read'], { expiresAt });
    expect((await list(service, key)).status).toBe(200);
    await until(async () => (await list(service, key)).status === 401, 3_000);
  });
});

describe('the order of checks: path, key, scope, body, job', () => {
  type Setting = { pending: string; elsewhere: string };
  interface Order {
    what: string;
    method?: string;
    path: string | ((setting: Setting) => string);
    /** Scope whose key is used, `bound`, or null for no key. */
    by: Scope | 'bound' | null;
    options?: CallOptions;
    status: number;
    code: string;
  }
  const broken: CallOptions = { raw: '{' };
  const unknown = `/jobs/${UNKNOWN_JOBS[1]}`;
  const rows: Order[] = [
    { what: 'an unknown path is 404 without a key', path: '/nope', by: null, status: 404, code: 'NOT_FOUND' },
    {
      what: 'a wrong method is 405 without a key',
      method: 'PUT',
      path: '/keys',
      by: null,
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
    },
    {
      what: 'a bad spaceId is 400 without a key',
      path: '/spaces/a%20b/jobs',
      by: null,
      options: broken,
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      what: 'a bad spaceId beats a missing scope',
      path: '/spaces/a%20b/jobs',
      by: 'jobs:read',
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      what: 'no key beats a bad body',
      path: '/spaces/order/jobs',
      by: null,
      options: broken,
      status: 401,
      code: 'UNAUTHENTICATED',
    },
    {
      what: 'no key beats a bad query',
      method: 'GET',
      path: '/spaces/order/jobs?limit=x',
      by: null,
      status: 401,
      code: 'UNAUTHENTICATED',
    },
    { what: 'no key beats an unknown job', path: `${unknown}/ack`, by: null, status: 401, code: 'UNAUTHENTICATED' },
    {
      what: 'a missing scope beats a bad body',
      path: '/spaces/order/jobs',
      by: 'jobs:read',
      options: broken,
      status: 403,
      code: 'FORBIDDEN',
    },
    {
      what: 'a missing scope beats a body over the limit',
      path: '/spaces/order/jobs',
      by: 'jobs:read',
      options: { raw: ' '.repeat(1_100_000) },
      status: 403,
      code: 'FORBIDDEN',
    },
    {
      what: 'a missing scope beats a wrong content type',
      path: '/spaces/order/jobs',
      by: 'jobs:read',
      options: { raw: '{}', headers: { 'content-type': 'text/plain' } },
      status: 403,
      code: 'FORBIDDEN',
    },
    {
      what: 'a missing scope beats a bad query',
      method: 'GET',
      path: '/spaces/order/jobs?limit=x',
      by: 'jobs:create',
      status: 403,
      code: 'FORBIDDEN',
    },
    {
      what: 'a missing scope beats an unknown job',
      path: `${unknown}/ack`,
      by: 'jobs:read',
      status: 403,
      code: 'FORBIDDEN',
    },
    {
      what: 'another space in the path beats a bad body',
      path: '/spaces/other/jobs',
      by: 'bound',
      options: broken,
      status: 403,
      code: 'FORBIDDEN',
    },
    {
      what: 'a bad body beats an unknown job',
      path: `${unknown}/progress`,
      by: 'jobs:progress',
      options: broken,
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      what: 'a bad body beats a job of another space',
      path: ({ elsewhere }) => `/jobs/${elsewhere}/progress`,
      by: 'bound',
      options: { body: {} },
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      what: 'a bad body beats a wrong state',
      path: ({ pending }) => `/jobs/${pending}/progress`,
      by: 'jobs:progress',
      options: { body: {} },
      status: 400,
      code: 'INVALID_REQUEST',
    },
    {
      what: 'a job of another space beats a wrong state',
      path: ({ elsewhere }) => `/jobs/${elsewhere}/keepalive`,
      by: 'bound',
      status: 403,
      code: 'FORBIDDEN',
    },
  ];

  it.each(rows)('$what', async ({ method = 'POST', path, by, options, status, code }) => {
    const setting = {
      pending: await jobIn(service, 'pending', 'order'),
      elsewhere: await jobIn(service, 'pending', 'other'),
    };
    const key = by === 'bound' ? bound : by === null ? undefined : keys.get(by);

    const answer = await service.call(method, typeof path === 'string' ? path : path(setting), { ...options, key });

    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  });
});
