import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { finishRevocations } from '@yardmaster/store';
import { withService } from '../support/service.js';
import { check, expectRepaired, type Short } from './checking.js';

const service = withService({}, { app: 'api', isOwn: true });

type Made = { id: string; key: string };
let maker: Made;
let child: Made;
const keysOf = () => service.store.keys;

beforeEach(async () => {
  maker = await service.key(['keys:manage', 'jobs:read'], { spaceId: 'damaged' });
  const body = { name: 'child', scopes: ['jobs:read'] };
  child = (await service.call('POST', '/keys', { key: maker.key, body })).body;
  expect((await check(service.store)).short).toEqual([]);
});
afterEach(async () => {
  await service.redis.del(keysOf().apiKeys, keysOf().apiKeyIndex, keysOf().apiKeyChildren, keysOf().revoking);
});

const INDEX = '{keys}:index';
const CHILDREN = '{keys}:children';
const unlisted = (key: string): Short => ['api_key_unlisted', null, key, 'possible'];
const stray = (key: string): Short => ['api_key_stray', null, key, 'possible'];

it('fsck adds an API key to the indexes that it is missing from', async () => {
  const { redis } = service;
  const all = () =>
    Promise.all([redis.zrange(keysOf().apiKeyIndex, 0, -1), redis.zrange(keysOf().apiKeyChildren, 0, -1)]);
  const before = await all();
  await redis.zrem(keysOf().apiKeyIndex, `/${child.id}`, `damaged/${child.id}`);
  await redis.zrem(keysOf().apiKeyChildren, `${maker.id}/${child.id}/damaged`);
  await expectRepaired(service.store, [unlisted(CHILDREN), unlisted(INDEX), unlisted(INDEX)], {
    details: [`${maker.id}/${child.id}/damaged`, `/${child.id}`, `damaged/${child.id}`].map(
      (entry) => `key ${child.id} should be listed as ${entry}`,
    ),
  });
  expect(await all()).toEqual(before);
});

it('fsck adds all API keys to the indexes when both are lost', async () => {
  await service.redis.del(keysOf().apiKeyIndex, keysOf().apiKeyChildren);
  await expectRepaired(service.store, [...Array(4).fill(unlisted(INDEX)), unlisted(CHILDREN)]);
});

it.each<[what: string, entry: () => string, why: () => string]>([
  ['of a key that does not exist', () => 'damaged/gone', () => 'key gone does not exist'],
  ['of all keys, of one that does not exist', () => '/gone', () => 'key gone does not exist'],
  ['of another space', () => `other/${child.id}`, () => `key ${child.id} does not belong there`],
  ['without a key', () => 'damaged', () => 'key  does not exist'],
])('fsck removes an entry of the index of API keys %s', async (_, entry, why) => {
  await service.redis.zadd(keysOf().apiKeyIndex, 0, entry());
  await expectRepaired(service.store, [stray(INDEX)], { details: [`${entry()}: ${why()}`] });
});

it('fsck removes a child of an API key if it does not exist, another key created it, or its creator does not exist', async () => {
  const { redis, store } = service;
  const { apiKeyChildren, apiKeys } = store.keys;
  const orphan = await service.key(['jobs:read']);
  const record = JSON.parse((await redis.hget(apiKeys, orphan.id)) as string);
  await redis.hset(apiKeys, orphan.id, JSON.stringify({ ...record, createdBy: 'gone' }));
  const entries = [`${maker.id}/none/`, `${child.id}/${maker.id}/damaged`, `gone/${orphan.id}/`];
  await redis.zadd(apiKeyChildren, ...entries.flatMap((entry) => [0, entry]));
  await expectRepaired(store, [stray(CHILDREN), stray(CHILDREN), stray(CHILDREN)], {
    details: [
      `${entries[0]}: key none does not exist`,
      `${entries[1]}: key ${maker.id} does not belong there`,
      `${entries[2]}: key gone does not exist`,
    ],
  });
});

it('fsck keeps the children of a key that is being revoked, and a scheduler revokes them', async () => {
  const { redis, store } = service;
  await redis.hdel(store.keys.apiKeys, maker.id);
  await redis.zrem(store.keys.apiKeyIndex, `/${maker.id}`, `damaged/${maker.id}`);
  await redis.sadd(store.keys.revoking, maker.id);
  expect((await check(store)).short).toEqual([]);
  await redis.del(store.keys.apiKeyChildren);
  await expectRepaired(store, [unlisted(CHILDREN)]);
  expect(await finishRevocations(store)).toEqual([child.id]);
  expect((await check(store)).short).toEqual([]);
});
