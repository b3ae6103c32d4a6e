import { expect, it } from '@jest/globals';
import type { AuditEntry, Scope } from '@yardmaster/protocol';
import {
  Authenticator,
  createKey,
  finishRevocations,
  removeExpiredKeys,
  revokeKey,
  type Store,
} from '@yardmaster/store';
import { withApiProcess } from '../logs/api-process.js';
import { jobIn } from '../support/jobs.js';
import { type TestService, withService } from '../support/service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

const service = withService();
/** Another process in front of the same keys, with a cache of its own. */
const other = withApiProcess(service);
const open = withStreams(service);

const SPACE = 'family';
const SCOPES: Scope[] = ['keys:manage', 'jobs:read'];
const REQUEST = { name: 'made', scopes: SCOPES, spaceId: SPACE, expiresAt: null };
type Made = Awaited<ReturnType<TestService['key']>>;

/** Create a key that may make others, with a key. @param maker default: the admin key */
async function make(maker?: Made, fields = {}): Promise<Made & { createdBy?: string }> {
  const body = { ...REQUEST, ...fields };
  const response = await other.call('POST', '/keys', { body, ...(maker && { key: maker.key }) });
  expect(response.status).toBe(201);
  return response.body;
}

/** Create many keys with a key, without a call of it. */
async function makeMany(count: number, { key }: Made): Promise<Made[]> {
  const caller = await new Authenticator(service.store).authenticate(key);
  return Promise.all(Array.from({ length: count }, () => createKey(service.store, REQUEST, caller)));
}

const use = async ({ key }: Made, at: Pick<TestService, 'call'> = service) =>
  (await at.call('GET', `/spaces/${SPACE}/jobs?limit=1`, { key })).status;
const revoke = (id: string, query = '') => service.call('DELETE', `/keys/${id}${query}`);
const statusesOf = async (keys: Made[], at?: Pick<TestService, 'call'>) =>
  new Set(await Promise.all(keys.map((key) => use(key, at))));

/** Read from the audit how a key was revoked. */
async function revocationOf({ id }: Made): Promise<AuditEntry | undefined> {
  const { entries } = (await service.call('GET', '/audit?limit=100')).body as { entries: AuditEntry[] };
  return entries.find(({ action, details }) => action === 'key.revoke' && details.keyId === id);
}

it('shows which key created a key, even after a rotation, and nothing for one that ADMIN_API_KEY created', async () => {
  const maker = await make();
  const child = await make(maker);
  expect([maker.createdBy, child.createdBy]).toEqual([undefined, maker.id]);
  const rotated = (await service.call('POST', `/keys/${child.id}/rotate`)).body;
  const self = (await service.call('GET', '/keys/self', { key: child.key })).body;
  const listed = (await service.call('GET', '/keys', { key: maker.key })).body;
  const found = listed.find(({ id }: Made) => id === child.id);
  expect([rotated, self, found].map(({ createdBy }) => createdBy)).toEqual([maker.id, maker.id, maker.id]);
});

it('revokes all descendants of a key in every process, and no other keys', async () => {
  const jobId = await jobIn(service, 'running', SPACE);
  const first = await make();
  const maker = await make(first);
  const child = await make(maker);
  const grandchild = await make(child);
  const ended = [maker, child, grandchild];
  const kept = [first, await make(first)];
  const streams = await Promise.all(ended.map(({ key }) => open(`/${jobId}?token=${key}`)));
  expect([await statusesOf([...ended, ...kept]), await statusesOf([...ended, ...kept], other)]).toEqual([
    new Set([200]),
    new Set([200]),
  ]);

  expect((await revoke(maker.id)).body).toEqual({ success: true });
  expect(await statusesOf(ended)).toEqual(new Set([401]));
  await until(async () => !(await statusesOf(ended, other)).has(200));
  for (const stream of streams) expect(await stream.end()).toMatchObject({ code: 1008 });
  expect([await statusesOf(kept), await statusesOf(kept, other)]).toEqual([new Set([200]), new Set([200])]);

  expect(await revocationOf(maker)).toMatchObject({ spaceId: SPACE, details: { keyId: maker.id, children: 2 } });
});

it('keepChildren keeps the keys that a key created, even when a key above it is revoked', async () => {
  const first = await make();
  const maker = await make(first);
  const child = await make(maker);
  const grandchild = await make(child);
  expect((await revoke(maker.id, '?keepChildren=true')).status).toBe(200);
  expect(await statusesOf([maker])).toEqual(new Set([401]));
  await revoke(first.id);
  expect(await statusesOf([child, grandchild])).toEqual(new Set([200]));
  expect((await revocationOf(maker))?.details).toEqual({ keyId: maker.id, name: 'made', keepChildren: true });
  expect((await revoke(child.id, '?keepChildren=false')).status).toBe(200);
  expect(await statusesOf([grandchild])).toEqual(new Set([401]));
});

it('lets a key revoke the key that created it, and thereby itself', async () => {
  const maker = await make();
  const child = await make(maker);
  const { status } = await service.call('DELETE', `/keys/${maker.id}`, { key: child.key });
  expect([status, await use(maker), await use(child)]).toEqual([200, 401, 401]);
});

it('refuses to create a key for a revoked key, even if the process has not noticed the revocation', async () => {
  const maker = await make();
  const principal = await new Authenticator(service.store).authenticate(maker.key);
  await revoke(maker.id);
  await expect(createKey(service.store, REQUEST, principal)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

it('keeps the keys that an expired key created when the expired key is removed', async () => {
  const { redis, store } = service;
  const maker = await service.key(['keys:manage', 'jobs:read']);
  const child = await make(maker);
  const record = JSON.parse((await redis.hget(store.keys.apiKeys, maker.id)) as string);
  await redis.hset(store.keys.apiKeys, maker.id, JSON.stringify({ ...record, expiresAt: '2020-01-01T00:00:00.000Z' }));
  await removeExpiredKeys(store);
  expect(await redis.hexists(store.keys.apiKeys, maker.id)).toBe(0);
  expect(await use(child)).toBe(200);
});

/** Make a family of 261 keys: a chain of 131, of which each has another child. @returns all of them, the first one first */
async function makeFamily(): Promise<Made[]> {
  const family: Made[] = [await make()];
  for (let n = 0; n < 130; n++) family.push(...(await makeMany(2, family.at(-1) as Made)));
  return family;
}

/** The store, with a connection that fails once the first step of a revocation is done. */
const failing = (store: Store): Store => ({
  ...store,
  redis: new Proxy(store.redis, {
    get: (target, name) => {
      if (name === 'smembers') return () => Promise.reject(new Error('the process was killed'));
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }),
});

it.each([
  ['a revocation of any key', async () => revoke('unknown')],
  ['a scheduler', async () => finishRevocations(service.store)],
])('completes the revocation of many keys by %s after a process was killed halfway', async (_, finish) => {
  const { redis, store } = service;
  const family = await makeFamily();
  const left = async () => redis.hmget(store.keys.apiKeys, ...family.map(({ id }) => id));
  const [first] = family as [Made];
  await expect(revokeKey(failing(store), first.id)).rejects.toThrow('the process was killed');
  const valid = (await left()).filter((record) => record !== null);
  expect([valid.length > 0, valid.length < family.length - 100]).toEqual([true, true]);
  expect(await use(first)).toBe(401);
  await finish();
  expect(new Set(await left())).toEqual(new Set([null]));
  expect(await redis.exists(store.keys.revoking)).toBe(0);
});

const LIMITS = { perSecond: 0.01, burst: 5 };

/** Use keys, each three times, at one process, because each has buckets of its own. @returns how many calls were allowed */
async function allowedCalls(keys: Made[]): Promise<number> {
  const statuses = await Promise.all([...keys, ...keys, ...keys].map((key) => use(key, other)));
  return statuses.filter((status) => status === 200).length;
}

it('200 keys created by a limited key together get no more calls than that key, even after it is revoked', async () => {
  const maker = await make(undefined, { limits: LIMITS });
  const many = await makeMany(199, maker);
  const child = await make(maker); // Takes a call of the maker.
  const all = [...many, child, ...(await makeMany(20, child))];
  expect(await allowedCalls(all)).toBe(4);
  const refused = await other.call('GET', '/keys/self', { key: many[7]?.key as string });
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  await revoke(maker.id, '?keepChildren=true');
  expect(await allowedCalls(all)).toBe(0);
});

it('keys created by a limited key without a space together get no more calls than that key', async () => {
  const maker = await service.key(['keys:manage', 'jobs:read'], { limits: LIMITS });
  const child = await make(maker, { limits: { perSecond: 100, burst: 100 } });
  expect(await allowedCalls([child, child])).toBe(4);
});

it('applies to a key its own limits and those of its creator, and shows the tighter one', async () => {
  const maker = await make(undefined, { limits: { ...LIMITS, burst: 10 } });
  const [child, sister] = [await make(maker, { limits: { ...LIMITS, burst: 3 } }), await make(maker)]; // 8 calls are left.
  const { headers } = await other.call('GET', '/keys/self', { key: child.key });
  expect(headers).toMatchObject({ 'ratelimit-policy': '"key";q=3;w=300', ratelimit: '"key";r=2;t=100' });
  expect([await allowedCalls([child]), await allowedCalls([sister, sister])]).toEqual([2, 5]);
  const empty = await other.call('GET', '/keys/self', { key: sister.key });
  expect([empty.status, empty.headers['ratelimit-policy']]).toEqual([429, '"key";q=10;w=1000']);
});

it('allows limited keys eight generations deep, and any number of generations without limits', async () => {
  let last = await make(undefined, { limits: { perSecond: 100, burst: 1_000 } });
  for (let n = 1; n < 8; n++) last = await make(last, { limits: { perSecond: 100 - n, burst: 1_000 } });
  const body = { name: 'deep', scopes: ['jobs:read'], limits: { perSecond: 1, burst: 1 } };
  expect(await service.call('POST', '/keys', { key: last.key, body })).toMatchObject({
    status: 400,
    body: { error: 'limits must be omitted, because 8 ancestors of this key already have limits' },
  });
  for (let n = 0; n < 3; n++) last = await make(last);
  expect(last).toMatchObject({ limits: { perSecond: 93, burst: 1_000 } });
});
