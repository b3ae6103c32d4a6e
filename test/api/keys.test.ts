import { afterEach, describe, expect, it } from '@jest/globals';
import type { Scope } from '@yardmaster/protocol';
import { destroySockets, sendHandshake } from '../gateway/handshake.js';
import { withApiProcess } from '../logs/api-process.js';
import { movedBy } from '../metrics/scrape.js';
import { jobIn } from '../support/jobs.js';
import { type TestService, withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

const service = withService();
/** Another process in front of the same jobs, with a cache of keys of its own. */
const other = withApiProcess(service);
const open = withStreams(service);

const listIn = async (key: string, at: Pick<TestService, 'call'> = service) =>
  (await at.call('GET', '/spaces/keys/jobs', { key })).status;

async function rotate(id: string, overlapSeconds?: number | null, key?: string) {
  const { status, body } = await service.call('POST', `/keys/${id}/rotate`, {
    body: overlapSeconds === undefined ? undefined : { overlapSeconds },
    ...(key !== undefined && { key }),
  });
  expect(status).toBe(200);
  return body;
}

it('rotates a key to a new secret, and accepts both secrets in every process', async () => {
  const { key, ...made } = await service.key(['jobs:read'], { spaceId: 'keys', name: 'rotated' });
  expect(await listIn(key, other)).toBe(200);
  const { key: next, ...rotated } = await rotate(made.id);
  expect(rotated).toEqual(made);
  expect(next).not.toBe(key);
  for (const text of [key, next, key, next]) {
    expect([await listIn(text), await listIn(text, other)]).toEqual([200, 200]);
  }
  expect((await service.call('GET', '/keys/self', { key: next })).body).toMatchObject(made);
});

it('accepts the old secret of a rotated key for the default overlap when the overlap is null', async () => {
  const { id, key } = await service.key(['jobs:read']);
  const { key: next } = await rotate(id, null);
  expect([await listIn(key), await listIn(next)]).toEqual([200, 200]);
  const { entries } = (await service.call('GET', '/audit')).body;
  expect(entries.find(({ details }: { details: { keyId?: string } }) => details.keyId === id)).toMatchObject({
    action: 'key.rotate',
    details: { overlapSeconds: 86_400 },
  });
});

it('refuses the old secret of a rotated key once the overlap is over, and closes only its streams', async () => {
  const jobId = await jobIn(service, 'running', 'keys');
  const { id, key } = await service.key(['jobs:read']);
  const { key: next } = await rotate(id, 1.5);
  const streams = [await open(`/${jobId}?token=${key}`), await open(`/${jobId}?token=${next}`)];
  await until(async () => (await listIn(key)) === 401);
  await until(async () => (await listIn(key, other)) === 401);
  expect(await streams[0]?.end()).toEqual({ code: 1008, reason: 'API key is no longer valid' });
  expect([await listIn(next), await listIn(next, other)]).toEqual([200, 200]);
  expect(streams[1]?.closed).toBeNull();
});

it('refuses the old secret of a rotated key at once with an overlap of 0, and closes its streams', async () => {
  const jobId = await jobIn(service, 'running', 'keys');
  const { id, key } = await service.key(['jobs:read']);
  const stream = await open(`/${jobId}?token=${key}`);
  expect(await listIn(key, other)).toBe(200);
  const { key: next } = await rotate(id, 0);
  expect([await listIn(key), await listIn(next), await listIn(next, other)]).toEqual([401, 200, 200]);
  await until(async () => (await listIn(key, other)) === 401);
  expect(await stream.end()).toEqual({ code: 1008, reason: 'API key is no longer valid' });
});

it('accepts only the two newest secrets of a key after a second rotation', async () => {
  const { id, key } = await service.key(['jobs:read']);
  const second = (await rotate(id)).key;
  const third = (await rotate(id)).key;
  expect([await listIn(key), await listIn(second), await listIn(third)]).toEqual([401, 200, 200]);
  const fourth = (await rotate(id, 0)).key;
  expect([await listIn(second), await listIn(third), await listIn(fourth)]).toEqual([401, 401, 200]);
});

it('returns a different secret to each of several concurrent rotations', async () => {
  const { id } = await service.key(['jobs:read']);
  const keys = await Promise.all([1, 2, 3].map(async () => (await rotate(id)).key));
  expect(new Set(keys).size).toBe(3);
  const statuses = await Promise.all(keys.map((text) => listIn(text)));
  expect(statuses.sort()).toEqual([200, 200, 401]);
});

it('refuses to rotate a revoked key, an unknown key and the admin key', async () => {
  const { id } = await service.key(['jobs:read']);
  await service.call('DELETE', `/keys/${id}`);
  for (const missing of [id, 'admin']) {
    expect((await service.call('POST', `/keys/${missing}/rotate`)).body.code).toBe('KEY_NOT_FOUND');
  }
});

it('Get Own Key returns the fields of a key without its secret', async () => {
  const limits = { perSecond: 50, burst: 100 };
  const { key, ...made } = await service.key(['jobs:read'], { spaceId: 'keys', limits });
  expect(made).toMatchObject({ limits });
  const { status, body } = await service.call('GET', '/keys/self', { key });
  expect({ status, body }).toEqual({ status: 200, body: made });
  expect((await service.call('GET', '/keys')).body).toContainEqual(made);
});

it('Get Own Key returns ADMIN_API_KEY, which is not stored', async () => {
  expect((await service.call('GET', '/keys/self')).body).toMatchObject({
    ...{ id: 'admin', name: 'ADMIN_API_KEY', spaceId: null, expiresAt: null, createdAt: null },
  });
});

it('Get Own Key refuses other methods of its path', async () => {
  const { status, headers } = await service.call('DELETE', '/keys/self');
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'OPTIONS, GET, HEAD' });
  expect((await service.call('GET', '/keys/%73elf')).body.id).toBe('admin');
  expect((await service.call('GET', '/keys/selfish')).status).toBe(405);
});

describe('a key that is bound to a space and may manage keys', () => {
  const create = (key: string, body: object) =>
    service.call('POST', '/keys', { key, body: { name: 'test', scopes: ['jobs:read'], ...body } });
  const manager = (scopes: Scope[] = ['keys:manage', 'jobs:read'], fields = {}) =>
    service.key(scopes, { spaceId: 'mine', ...fields });

  it('lets a key bound to one space create keys only in that space', async () => {
    const { key } = await manager();
    for (const body of [{}, { spaceId: null }, { spaceId: 'mine' }]) {
      expect(await create(key, body)).toMatchObject({ status: 201, body: { spaceId: 'mine' } });
    }
    const refused = { status: 403, body: { code: 'FORBIDDEN', error: 'The API key is bound to another space' } };
    expect(await create(key, { spaceId: 'other' })).toMatchObject(refused);
  });

  it('lets a key bound to one space grant only scopes that it has', async () => {
    const { key } = await manager(['keys:manage', 'jobs:worker']);
    expect((await create(key, { scopes: ['keys:manage', 'jobs:worker', 'jobs:read:progress'] })).status).toBe(201);
    for (const scope of ['jobs:create', 'jobs:kill', 'jobs:manage']) {
      const error = `Missing required scope: ${scope}`;
      expect(await create(key, { scopes: ['jobs:read', scope] })).toMatchObject({ status: 403, body: { error } });
    }
    expect((await create((await manager(['keys:manage', 'jobs:ack'])).key, { scopes: ['jobs:worker'] })).status).toBe(
      403,
    );
  });

  it('refuses to let a key bound to one space create a key that expires later or may make more calls', async () => {
    const [soon, later] = ['2098-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'];
    const limits = { perSecond: 100, burst: 1_000 };
    const { key } = await manager(undefined, { expiresAt: soon, limits });
    expect(await create(key, {})).toMatchObject({ status: 201, body: { expiresAt: soon, limits } });
    expect((await create(key, { expiresAt: later })).status).toBe(403);
    expect((await create(key, { limits: { ...limits, burst: 1_001 } })).status).toBe(403);
    expect((await create(key, { limits: { perSecond: 1, burst: 1 } })).status).toBe(201);
  });

  it('refuses to let a key bound to one space rotate a key that expires later or may make more calls', async () => {
    const [soon, later] = ['2098-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'];
    const limits = { perSecond: 100, burst: 1_000 };
    const { key } = await manager(undefined, { expiresAt: soon, limits });
    const statusOf = async (fields: object) =>
      (await service.call('POST', `/keys/${(await manager(undefined, fields)).id}/rotate`, { key })).status;
    expect(await statusOf({ expiresAt: soon, limits })).toBe(200);
    expect(await statusOf({ expiresAt: later, limits })).toBe(403);
    expect(await statusOf({ limits })).toBe(403);
    expect(await statusOf({ expiresAt: soon })).toBe(403);
    expect(await statusOf({ expiresAt: soon, limits: { ...limits, perSecond: 101 } })).toBe(403);
  });

  it('lists only the keys of its space to a key bound to one space', async () => {
    const [mine, foreign] = [await service.key(['jobs:kill'], { spaceId: 'mine' }), await service.key(['jobs:read'])];
    const { id, key } = await manager();
    const { body } = await service.call('GET', '/keys', { key });
    const ids = body.map((each: { id: string }) => each.id);
    expect(ids).toEqual(expect.arrayContaining([id, mine.id]));
    expect(ids).not.toContain(foreign.id);
    expect(new Set(body.map((each: { spaceId: string }) => each.spaceId))).toEqual(new Set(['mine']));
  });

  it.each([
    ['rotates', 'POST', '/rotate'],
    ['revokes', 'DELETE', ''],
  ])('a key bound to one space %s only itself and keys of its space whose scopes it has', async (_, method, rest) => {
    const self = await manager();
    const act = async (id: string) => (await service.call(method, `/keys/${id}${rest}`, { key: self.key })).status;
    const stronger = await service.key(['jobs:read', 'jobs:kill'], { spaceId: 'mine' });
    const refused = [
      stronger,
      await service.key(['jobs:read'], { spaceId: 'other' }),
      await service.key(['jobs:read']),
    ];
    for (const { id, key } of refused) {
      expect(await act(id)).toBe(403);
      expect((await service.call('GET', '/keys/self', { key })).status).toBe(200);
    }
    expect(await act('aaaa')).toBe(404);
    expect(await act((await service.key(['jobs:read'], { spaceId: 'mine' })).id)).toBe(200);
    expect(await act(self.id)).toBe(200);
  });

  it('refuses to let a key bound to one space change a key without a space, even with every scope', async () => {
    const { key } = await manager(['keys:manage', 'jobs:worker', 'jobs:create', 'jobs:kill', 'jobs:manage']);
    const unbound = await service.key(['keys:manage']);
    expect((await service.call('POST', `/keys/${unbound.id}/rotate`, { key })).status).toBe(403);
    expect((await service.call('DELETE', `/keys/${unbound.id}`, { key })).status).toBe(403);
  });
});

it('refuses a key beyond its burst with RATE_LIMITED before any other check, without affecting other keys', async () => {
  const limited = await service.key(['jobs:read'], { limits: { perSecond: 0.01, burst: 3 } });
  const free = await service.key(['jobs:read']);
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) {
    statuses.push(await listIn(limited.key));
    // The calls of other keys succeed between the refused ones.
    expect(await Promise.all([listIn(free.key), listIn(ADMIN_KEY)])).toEqual([200, 200]);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  const refused = await service.call('POST', '/spaces/keys/jobs', { key: limited.key, raw: '{' });
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
});

it('serves all calls of another key while one key exceeds its limit', async () => {
  const limited = await service.key(['jobs:create'], { limits: { perSecond: 1, burst: 1 } });
  const free = await service.key(['jobs:create']);
  const create = async (key: string) =>
    (await service.call('POST', '/spaces/flood/jobs', { key, body: { name: 'x' } })).status;
  const flood = Array.from({ length: 300 }, () => create(limited.key));
  const others = await Promise.all(Array.from({ length: 60 }, () => create(free.key)));
  expect(others).toEqual(Array(60).fill(201));
  expect((await Promise.all(flood)).filter((status) => status === 429).length).toBeGreaterThan(200);
});

it('refills the calls of a limited key over time, and shows in headers how many remain', async () => {
  const { key } = await service.key(['jobs:read'], { limits: { perSecond: 2, burst: 4 } });
  const { headers } = await service.call('GET', '/keys/self', { key });
  expect(headers).toMatchObject({ 'ratelimit-policy': '"key";q=4;w=2', ratelimit: '"key";r=3;t=1' });
  await Promise.all(Array.from({ length: 6 }, () => listIn(key)));
  await until(async () => (await listIn(key)) === 200);
  expect((await service.call('GET', '/keys/self')).headers).not.toHaveProperty('ratelimit');
});

it('shows when a key was last used, once its process has recorded it', async () => {
  const used = await service.key(['jobs:read']);
  const idle = await service.key(['jobs:read']);
  const before = Date.now();
  const { store } = service;
  const { Authenticator } = await import('@yardmaster/store');
  const authenticator = new Authenticator(store);
  await authenticator.authenticate(used.key);
  const shown = async () =>
    (await service.call('GET', '/keys')).body.filter(({ id }: { id: string }) => [used.id, idle.id].includes(id));
  expect((await shown()).map((key: object) => 'lastUsedAt' in key)).toEqual([false, false]);
  await authenticator.recordUses();
  const [first, second] = await shown();
  expect([first, second].find(({ id }) => id === idle.id)).not.toHaveProperty('lastUsedAt');
  const { lastUsedAt } = [first, second].find(({ id }) => id === used.id);
  expect(Math.abs(Date.parse(lastUsedAt) - before)).toBeLessThan(60_000);
  // A key that is not used is not written, and a revoked one is not either.
  await store.redis.hdel(store.keys.keyUses, used.id);
  await authenticator.recordUses();
  expect(await store.redis.hexists(store.keys.keyUses, used.id)).toBe(0);
  await authenticator.authenticate(used.key);
  await service.call('DELETE', `/keys/${used.id}`);
  await authenticator.recordUses();
  expect(await store.redis.hexists(store.keys.keyUses, used.id)).toBe(0);
});

const METRIC = 'yardmaster_rejected_keys_total';

/** A service that trusts the X-Forwarded-For of the test itself. */
const behindProxy = withService({ TRUSTED_PROXIES: 'loopback' });
afterEach(destroySockets);

/** Make a call and open a stream with this text as the key, from an address. @returns both statuses */
async function present(key: string | undefined, from = '203.0.113.9'): Promise<(number | undefined)[]> {
  const headers = { 'x-forwarded-for': from };
  const path = `/api/v1/realtime/spaces/a${key === undefined ? '' : `?token=${key}`}`;
  const called = await behindProxy.call('GET', '/spaces/a/jobs', { key, headers });
  return [called.status, (await sendHandshake(behindProxy.url, path, { headers })).status];
}

const newKey = (fields = {}) => behindProxy.key(['jobs:read'], fields);

const WRONG: [what: string, make: () => Promise<string>][] = [
  ['no text of ours', async () => 'garbage'],
  ['unknown', async () => `ym_${'a'.repeat(16)}_${'0'.repeat(64)}`],
  ['an existing one with another secret', async () => `ym_${(await newKey()).id}_${'0'.repeat(64)}`],
  [
    'expired',
    async () => {
      const expiresAt = new Date(Date.now() + 5_000).toISOString();
      const { key } = await newKey({ expiresAt });
      await until(
        async () =>
          (await behindProxy.call('GET', '/spaces/a/jobs', { key, headers: { 'x-forwarded-for': '203.0.113.9' } }))
            .status === 401,
      );
      return key;
    },
  ],
  [
    'revoked',
    async () => {
      const { id, key } = await newKey();
      await behindProxy.call('DELETE', `/keys/${id}`);
      return key;
    },
  ],
];

it.each(WRONG)('counts a wrong API key of a call and of a stream: %s', async (_, make) => {
  const key = await make();
  const moved = await movedBy(behindProxy, METRIC, async () => expect(await present(key)).toEqual([401, 401]));
  expect(moved).toEqual({ [METRIC]: 2 });
});

it('counts neither a missing API key as wrong nor a valid one that lacks a scope', async () => {
  const { key } = await behindProxy.key(['jobs:ack']);
  const moved = await movedBy(behindProxy, METRIC, async () => {
    expect(await present(undefined)).toEqual([401, 401]);
    expect(await present('')).toEqual([401, 401]);
    expect(await present(key)).toEqual([403, 403]);
  });
  expect(moved).toEqual({});
});
