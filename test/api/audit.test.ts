import { describe, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import type { AuditEntry } from '@yardmaster/protocol';
import type { HttpResponse } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { callEndpoint, ENDPOINTS, type Endpoint, endpointOf, targetFor } from './endpoints.js';

const redis = withRedis();
const service = withService({}, { redis });

interface ActOfCall {
  action: string;
  /** A call without which it would change nothing. */
  before?: string;
  /** A body with which it changes something. */
  body?: Record<string, unknown>;
  /** Whether it is of no space. */
  hasNoSpace?: true;
}

/** The acts of calls. */
const ACTS: Record<string, ActOfCall> = {
  'Create Job': { action: 'job.replace', body: { name: 'work', unique: { key: 'k', onConflict: 'replace' } } },
  'Kill Job': { action: 'job.kill' },
  'Reschedule Job': { action: 'job.reschedule' },
  'Requeue Job': { action: 'job.requeue' },
  'Copy Job': { action: 'job.copy' },
  'Delete Job': { action: 'job.delete' },
  'Redeliver Callback': { action: 'job.redeliver' },
  'Start Operation': { action: 'operation.start' },
  'Cancel Operation': { action: 'operation.cancel' },
  'Create Stream Token': { action: 'token.create', hasNoSpace: true },
  'Get Callback Secrets': { action: 'secret.read' },
  'Put Schedule': { action: 'schedule.put' },
  'Put Schedules': { action: 'schedule.sync' },
  'Pause Schedule': { action: 'schedule.pause' },
  'Delete Schedule': { action: 'schedule.delete' },
  'Run Schedule': { action: 'schedule.run' },
  'Change Space Settings': { action: 'space.settings', body: { maxPending: 1_000 } },
  'Pause Space': { action: 'space.pause' },
  'Resume Space': { action: 'space.resume', before: 'Pause Space' },
  'Create Key': { action: 'key.create', hasNoSpace: true },
  'List Keys': { action: 'key.list', hasNoSpace: true },
  'Rotate Key': { action: 'key.rotate' },
  'Revoke Key': { action: 'key.revoke' },
};
const AUDITED = ENDPOINTS.filter(({ name }) => name in ACTS).map(
  (endpoint) => ({ ...endpoint, ...ACTS[endpoint.name] }) as Endpoint & ActOfCall,
);

async function audit(query = '', key?: string): Promise<{ entries: AuditEntry[]; nextCursor: string | null }> {
  const { status, body } = await service.call('GET', `/audit${query}`, key === undefined ? {} : { key });
  expect(status).toBe(200);
  return body;
}

/** Find the entry of a request among the last 500, because other tests may add some. */
async function entryOf(requestId: string): Promise<AuditEntry | undefined> {
  let cursor: string | null = '';
  for (let page = 0; page < 5 && cursor !== null; page++) {
    const { entries, nextCursor } = await audit(`?limit=100${cursor && `&cursor=${cursor}`}`);
    const entry = entries.find((one) => one.requestId === requestId);
    if (entry) return entry;
    cursor = nextCursor;
  }
  return undefined;
}

let calls = 0;
const newId = () => ({ 'x-request-id': `act-${++calls}` });

it('exactly the calls of operators, and reads of keys and secrets, have an audited action', () => {
  const named = ROUTES.flatMap(({ audit: act, method, path }) =>
    act === undefined ? [] : [`${act} ${method} ${path}`],
  );
  expect(named.sort()).toEqual(AUDITED.map(({ action, method, path }) => `${action} ${method} /api/v1${path}`).sort());
});

describe.each(AUDITED)('the audit of $name', (endpoint) => {
  const { name, action, before, body, hasNoSpace = false } = endpoint;
  const scopes = [...endpoint.scopes, ...(endpoint.also ?? [])];

  it(`records ${name} in the audit with key, space and address before the call has its response`, async () => {
    const space = `audited-${action}`;
    const target = await targetFor(service, endpoint, space);
    // The job that is replaced.
    const replaced = action === 'job.replace' ? (await createJob(service, space, body)).id : '';
    if (before !== undefined) await callEndpoint(service, endpointOf(before), target);
    const { id, key } = await service.key(scopes, { name: 'operator' });
    const headers = newId();
    const { status } = await callEndpoint(service, endpoint, target, { key, headers });
    expect(status).toBe(replaced === '' ? (endpoint.success ?? 200) : 200);
    expect(await entryOf(headers['x-request-id'])).toMatchObject({
      ...{ keyId: id, keyName: 'operator', address: '127.0.0.1', action },
      jobId: action === 'schedule.run' ? expect.any(String) : replaced || target.jobId || null,
      spaceId: hasNoSpace ? null : space,
    });
    expect(service.process?.output()).toContain(`"requestId":"${headers['x-request-id']}"`);
  });

  it(`records in the audit that ${name} was denied, with key and address`, async () => {
    const target = await targetFor(service, endpoint, 'audited');
    const { id, key } = await service.key(['jobs:ack'], { name: 'worker' });
    const headers = newId();
    expect((await callEndpoint(service, endpoint, target, { key, headers })).status).toBe(403);
    await until(async () => (await entryOf(headers['x-request-id'])) !== undefined);
    expect(await entryOf(headers['x-request-id'])).toMatchObject({
      ...{ keyId: id, keyName: 'worker', address: '127.0.0.1', action: 'access.denied' },
      ...{ jobId: null, spaceId: null, details: { status: 403, count: 1 } },
    });
  });
});

const inSpace = (method: string, path: string, body: object, headers = {}) =>
  service.call(method, `/spaces/unchanged${path}`, { body, headers });
const OPERATION = { action: 'requeue', filter: { status: 'dead' } };

let jobId: string;
let operationId: string;

it.each<[what: string, change: () => Promise<HttpResponse>]>([
  ['kills a killed job', () => service.call('POST', `/jobs/${jobId}/kill`)],
  [
    'sets settings that are set',
    () => inSpace('PATCH', '/settings', { maxPending: 7, retention: { deadSeconds: 60 } }),
  ],
  ['pauses a paused space', () => inSpace('POST', '/pause', {})],
  ['resumes what is not paused', () => inSpace('POST', '/resume', {})],
  ['cancels an operation that has ended', () => service.call('DELETE', `/operations/${operationId}`)],
  ['starts an operation again', () => inSpace('POST', '/operations', OPERATION, { 'idempotency-key': 'same' })],
])('makes no audit entry for a call that %s', async (_, change) => {
  jobId = await jobIn(service, 'pending', 'unchanged');
  operationId = (await inSpace('POST', '/operations', OPERATION)).body.id;
  expect((await change()).status).toBeLessThan(300);
  const before = (await audit('?limit=1')).entries;
  for (let n = 0; n < 3; n++) expect((await change()).status).toBeLessThan(300);
  expect((await audit('?limit=1')).entries).toEqual(before);
});

it('makes no audit entry for a dry run, nor for a job that is created, returned or replayed', async () => {
  const before = (await audit('?limit=1')).entries;
  await inSpace('POST', '/operations', { ...OPERATION, dryRun: true });
  const unique = { key: 'u' };
  for (const fields of [{}, { unique }, { unique }]) await inSpace('POST', '/jobs', { name: 'work', ...fields });
  const headers = { 'idempotency-key': 'one' };
  for (let n = 0; n < 2; n++) await inSpace('POST', '/jobs', { name: 'work' }, headers);
  expect((await audit('?limit=1')).entries).toEqual(before);
});

it('records the kind of action for a copy, a replacement by a list, and a stream token', async () => {
  const id = await jobIn(service, 'dead', 'shown');
  const copy = (await service.call('POST', `/jobs/${id}/copy`, { body: {} })).body.id;
  const unique = (key: string) => ({ name: 'work', unique: { key, onConflict: 'replace' } });
  const body = [unique('a'), unique('b'), { name: 'work' }];
  for (let n = 0; n < 2; n++) await service.call('POST', '/spaces/shown/jobs', { body });
  const asked = { scope: 'jobs:read', jobIds: [id, copy] };
  const { expiresAt } = (await service.call('POST', '/stream-tokens', { body: asked })).body;
  await service.call('POST', '/stream-tokens', { body: { scope: 'jobs:read', spaceId: 'shown' } });
  expect(
    (await audit('?limit=4')).entries.map(({ action, spaceId, jobId, details }) => [action, spaceId, jobId, details]),
  ).toEqual([
    ['token.create', 'shown', null, { scope: 'jobs:read', expiresAt: expect.any(String), count: 1 }],
    ['token.create', null, null, { scope: 'jobs:read', jobs: 2, expiresAt, count: 1 }],
    ['job.replace', 'shown', null, { jobs: 2, count: 1 }],
    ['job.copy', 'shown', id, { copyId: copy }],
  ]);
});

it('records in the audit what identifies an API key, but never a secret', async () => {
  const { id, key } = await service.key(['jobs:read'], { name: 'shop', spaceId: 'shop' });
  const rotated = (await service.call('POST', `/keys/${id}/rotate`, { body: { overlapSeconds: 60 } })).body.key;
  await service.call('DELETE', `/keys/${id}`);
  const { entries } = await audit('?limit=3');
  expect(entries.map(({ action, spaceId, details }) => [action, spaceId, details])).toEqual([
    ['key.revoke', 'shop', { keyId: id, name: 'shop' }],
    ['key.rotate', 'shop', { keyId: id, name: 'shop', overlapSeconds: 60 }],
    ['key.create', 'shop', { keyId: id, name: 'shop', scopes: ['jobs:read'], expiresAt: null }],
  ]);
  const texts = JSON.stringify(entries) + service.process?.output();
  for (const text of [key, rotated]) expect(texts).not.toContain(text.split('_')[2]);
});

it('records no data of a job in the audit', async () => {
  const jobId = await jobIn(service, 'pending', 'audited', { payload: { secret: 'of-the-payload' } });
  await service.call('POST', `/jobs/${jobId}/kill`, { body: { reason: 'of-the-reason' } });
  const [entry] = (await audit('?limit=1')).entries;
  expect(entry).toMatchObject({ action: 'job.kill', jobId, details: {} });
});

it('shows a key bound to one space only the audit entries of that space, page by page', async () => {
  const manager = await service.key(['keys:manage', 'jobs:read'], { spaceId: 'paged' });
  for (let i = 0; i < 5; i++) {
    await service.key(['jobs:read'], { spaceId: 'paged', name: `k${i}` });
    await service.key(['jobs:read'], { spaceId: 'other' });
  }
  for (const key of [manager.key, undefined]) {
    const names: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null && names.length < 10) {
      const page = await audit(`?limit=2${cursor && `&cursor=${cursor}`}`, key);
      expect(page.entries.length).toBeLessThanOrEqual(2);
      names.push(...page.entries.map(({ spaceId, details }) => `${spaceId} ${details.name}`));
      cursor = page.nextCursor;
    }
    const expected = ['k4', 'k3', 'k2', 'k1', 'k0', 'test'].map((name) => `paged ${name}`);
    if (key !== undefined) expect(names).toEqual(expected);
    else expect(names).toEqual(['k4', 'k3', 'k2', 'k1', 'k0'].flatMap((name) => ['other test', `paged ${name}`]));
  }
});

it.each(['0-0', '0-1', '1', 'x'])('refuses the audit cursor %s, which no page returns', async (cursor) => {
  const { status, body } = await service.call('GET', `/audit?cursor=${cursor}`);
  expect({ status, body }).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^cursor must be /) } });
});

it('performs an action whose audit entry cannot be stored, and logs the action and the failure', async () => {
  const jobId = await jobIn(service, 'pending', 'unstored');
  const stream = service.store.keys.audit('jobs');
  await service.redis.rename(stream, `${stream}-kept`);
  await service.redis.set(stream, 'of another type');
  const headers = newId();
  try {
    expect((await service.call('POST', `/jobs/${jobId}/kill`, { headers })).status).toBe(200);
  } finally {
    await service.redis.rename(`${stream}-kept`, stream);
  }
  const lines = service.process?.output().split('\n') ?? [];
  const messages = lines
    .filter((line) => line.includes(`"${headers['x-request-id']}"`))
    .map((line) => JSON.parse(line));
  expect(messages.map(({ msg, level }) => [level, msg])).toEqual([
    ['info', 'audited action'],
    ['warn', 'action not added to the audit log'],
  ]);
});

it('kills a job and records it in the audit when memory is full', async () => {
  const jobId = await jobIn(service, 'pending', 'full');
  await service.redis.config('SET', 'maxmemory', '1mb');
  try {
    expect((await service.call('POST', `/jobs/${jobId}/kill`)).status).toBe(200);
    expect((await audit('?limit=1')).entries[0]).toMatchObject({ action: 'job.kill', jobId, spaceId: 'full' });
  } finally {
    await service.redis.config('SET', 'maxmemory', '0');
  }
});
