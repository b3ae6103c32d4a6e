import { describe, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import type { AuditEntry } from '@yardmaster/protocol';
import { jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { callEndpoint, ENDPOINTS, targetFor } from './endpoints.js';

const redis = withRedis();
const service = withService({}, { redis });

/** Scopes of operators: what a key changes with them is recorded. */
const OPERATORS = ['jobs:kill', 'jobs:manage', 'spaces:manage', 'keys:manage'];
const ACTS = ENDPOINTS.filter(
  ({ method, scopes }) => method !== 'GET' && scopes.some((scope) => OPERATORS.includes(scope)),
);

async function audit(query = '', key?: string): Promise<{ entries: AuditEntry[]; nextCursor: string | null }> {
  const { status, body } = await service.call('GET', `/audit${query}`, key === undefined ? {} : { key });
  expect(status).toBe(200);
  return body;
}

const entryOf = async (requestId: string) => (await audit('?limit=100')).entries.find((e) => e.requestId === requestId);

let calls = 0;
const newId = () => ({ 'x-request-id': `act-${++calls}` });

it('the routes name an audited act for exactly the calls by which an operator changes something', () => {
  const named = ROUTES.filter(({ audit: act }) => act !== undefined).map(({ method, path }) => `${method} ${path}`);
  expect(named.sort()).toEqual(ACTS.map(({ method, path }) => `${method} /api/v1${path}`).sort());
});

describe.each(ACTS)('the audit of $name', (endpoint) => {
  it(`records ${endpoint.name} in the audit with key, space and address before the call has its response`, async () => {
    const target = await targetFor(service, endpoint, 'audited');
    const { id, key } = await service.key([...endpoint.scopes], { name: 'operator' });
    const headers = newId();
    const { status } = await callEndpoint(service, endpoint, target, { key, headers });
    expect(status).toBe(endpoint.success ?? 200);
    expect(await entryOf(headers['x-request-id'])).toMatchObject({
      ...{ keyId: id, keyName: 'operator', address: '127.0.0.1' },
      action: expect.stringMatching(/^[a-z]+\.[a-z]+$/),
      jobId: target.jobId || null,
      spaceId: endpoint.path === '/keys' ? null : 'audited',
    });
    expect(service.process?.output()).toContain(`"requestId":"${headers['x-request-id']}"`);
  });

  it(`records nothing in the audit when ${endpoint.name} is refused`, async () => {
    const target = await targetFor(service, endpoint, 'audited');
    const { key } = await service.key(['jobs:read']);
    const headers = newId();
    expect((await callEndpoint(service, endpoint, target, { key, headers })).status).toBe(403);
    expect(await entryOf(headers['x-request-id'])).toBeUndefined();
  });
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

it('shows a key of one space only the audit entries of that space, page by page', async () => {
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

it('performs an act whose audit entry cannot be stored, and logs both', async () => {
  const jobId = await jobIn(service, 'pending', 'unstored');
  const { audit: stream } = service.store.keys;
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
    ['info', 'act done'],
    ['warn', 'act not added to the audit'],
  ]);
});

it('keeps the newest 10,000 audit entries', async () => {
  const { audit: stream } = service.store.keys;
  const pipeline = service.redis.pipeline();
  for (let i = 0; i < 10_050; i++) pipeline.xadd(stream, '*', 'at', '1785576607009', 'details', '{}');
  await pipeline.exec();
  await service.key(['jobs:read']);
  expect(await service.redis.xlen(stream)).toBe(10_000);
  expect((await audit('?limit=1')).entries[0]).toMatchObject({ action: 'key.create' });
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
