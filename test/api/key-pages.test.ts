import { expect, it } from '@jest/globals';
import { removeExpiredKeys } from '@yardmaster/store';
import { withService } from '../support/service.js';

const service = withService({ KEYS_PER_SPACE: '6' });

type Listed = { id: string; name: string };

/** Create keys bound to a space in turn. @returns their IDs, newest first */
async function keysIn(spaceId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.unshift((await service.key(['jobs:read'], { spaceId })).id);
  return ids;
}

/** Return a key that can list the keys bound to a space. */
const managerOf = (spaceId: string) => service.key(['keys:manage', 'jobs:read'], { spaceId, name: 'manager' });
const list = (key: string | undefined, query = '') =>
  service.call('GET', `/keys${query}`, key === undefined ? {} : { key });
const idsOf = (keys: Listed[]) => keys.map(({ id }) => id);

/** Return the ids of all pages, following `x-next-cursor` or the link. */
async function pagesOf(key: string | undefined, limit: number, by: 'cursor' | 'link'): Promise<string[][]> {
  const pages: string[][] = [];
  for (let query = `?limit=${limit}`; ; ) {
    const { body, headers } = await list(key, query);
    pages.push(idsOf(body));
    const next = headers['x-next-cursor'];
    if (next === undefined) return pages;
    query =
      by === 'cursor'
        ? `?limit=${limit}&cursor=${next}`
        : (/^<(.+)>; rel="next"$/.exec(String(headers.link))?.[1] ?? '');
  }
}

it.each(['cursor', 'link'] as const)(
  'lists the keys bound to a space page by page, newest first, by the %s',
  async (by) => {
    await keysIn(`other-${by}`, 3);
    const manager = await managerOf(`paged-${by}`);
    const ids = [...(await keysIn(`paged-${by}`, 4)), manager.id];
    await service.key(['jobs:read']);
    expect(await pagesOf(manager.key, 2, by)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect(await pagesOf(manager.key, 5, by)).toEqual([ids]);
    expect((await list(manager.key)).headers).not.toHaveProperty('link');
  },
);

it('lists the keys of all spaces page by page to a key without a space', async () => {
  const all = [await service.key(['jobs:read']), await service.key(['jobs:read'], { spaceId: 'all' })].map(
    ({ id }) => id,
  );
  const pages = await pagesOf(undefined, 3, 'cursor');
  expect(pages[0]?.slice(0, 2)).toEqual(all.reverse());
  const ids = pages.flat();
  expect(new Set(ids)).toEqual(new Set(await service.redis.hkeys(service.store.keys.apiKeys)));
  expect(ids).toHaveLength(new Set(ids).size);
});

it('continues the list of keys after a page whose last key was revoked, without newer ones', async () => {
  const manager = await managerOf('moving');
  const [, second = '', third, first] = [...(await keysIn('moving', 3)), manager.id];
  const { headers } = await list(manager.key, '?limit=2');
  await service.call('DELETE', `/keys/${second}`);
  await keysIn('moving', 1);
  const { body, headers: last } = await list(manager.key, `?limit=2&cursor=${headers['x-next-cursor']}`);
  expect([idsOf(body), last['x-next-cursor']]).toEqual([[third, first], undefined]);
});

const FULL = { code: 'TOO_MANY_KEYS', error: 'Space has reached its limit of API keys; revoke some first' };

it('refuses another key in a space with KEYS_PER_SPACE keys, whoever creates it, until one is revoked', async () => {
  const manager = await managerOf('full');
  const [first] = await keysIn('full', 5);
  const body = { name: 'more', scopes: ['jobs:read'], spaceId: 'full' };
  const create = (options = {}) => service.call('POST', '/keys', { body, ...options });
  for (const options of [{}, { key: manager.key }]) {
    const refused = await create(options);
    expect(refused).toMatchObject({ status: 429, body: FULL });
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
  }
  expect(idsOf((await list(manager.key)).body)).toHaveLength(6);
  await keysIn('full2', 1);
  for (let n = 0; n < 8; n++) await service.key(['jobs:read']);
  await service.call('DELETE', `/keys/${first}`);
  expect([(await create()).status, (await create()).status]).toEqual([201, 429]);
});

it('concurrent calls create no more than KEYS_PER_SPACE keys in a space', async () => {
  const body = { name: 'rush', scopes: ['jobs:read'], spaceId: 'rush' };
  const responses = await Promise.all(Array.from({ length: 20 }, () => service.call('POST', '/keys', { body })));
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(6);
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201, 429]));
});

it('creates another key in a full space once an expired one is removed', async () => {
  const ids = await keysIn('expired', 6);
  const { redis, store } = service;
  const record = JSON.parse((await redis.hget(store.keys.apiKeys, ids[2] as string)) as string);
  const past = JSON.stringify({ ...record, expiresAt: '2020-01-01T00:00:00.000Z' });
  await redis.hset(store.keys.apiKeys, record.id, past);
  expect(await removeExpiredKeys(store)).toBe(1);
  expect(idsOf((await list((await managerOf('expired')).key)).body)).not.toContain(record.id);
});
