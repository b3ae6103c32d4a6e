import { beforeEach, expect, it } from '@jest/globals';
import { keysOf } from '../support/fsck.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { check, type Short } from './checking.js';

// The API alone: nothing but these tests makes entries of the audit.
const service = withService({}, { app: 'api', isOwn: true });
const JOBS = '{audit}:jobs';
const fault = (key: string): Short => ['act_index_wrong', null, `${JOBS}/${key}`, 'possible'];
const keyOf = (key: string) => `${service.store.keys.audit('jobs')}/${key}`;

/** Remove all keys of the audit, and others like them. */
async function removeAll(): Promise<void> {
  const keys = await keysOf(service.redis, service.store.settings.keyPrefix);
  for (const key of keys.filter((name) => name.includes(':{audit}'))) await service.redis.del(key);
}

/** Expect just these faults, and that a repair leaves none. It may correct a number together with the list. */
async function expectCorrected(faults: Short[], details: string[]): Promise<void> {
  const found = await check(service.store);
  expect(found.short).toEqual(faults.sort());
  expect(found.faults.map(({ detail }) => detail).sort()).toEqual(details.sort());
  const repairs = (await check(service.store, true)).short.map(([, , , repair]) => repair);
  expect(new Set(repairs)).toEqual(new Set(['done']));
  expect((await check(service.store)).short).toEqual([]);
}

let ids: string[];
beforeEach(async () => {
  await removeAll();
  for (const space of ['a', 'b', 'a']) {
    await service.call('POST', `/spaces/${space}/pause`);
    await service.call('POST', `/spaces/${space}/resume`);
  }
  await service.call('PATCH', '/spaces/a/settings', { body: { maxPending: 5 } });
  await service.call('GET', '/keys');
  await service.call('GET', '/spaces/a/jobs', { key: 'wrong' });
  ids = await service.redis.zrange(keyOf('of/a'), 0, -1);
});

it('fsck finds no fault in the audit', async () => {
  expect(ids).toHaveLength(4);
  // Refused access is added behind the response.
  await until(async () => (await service.redis.exists(keyOf('of/!'))) === 1);
  expect(await service.redis.zrange(keyOf('owners'), 0, -1, 'WITHSCORES')).toEqual(['!', '1', 'b', '2', 'a', '4']);
  expect((await check(service.store, true)).short).toEqual([]);
});

it('fsck adds unlisted audit entries to the list of their space', async () => {
  await service.redis.del(keyOf('of/a'));
  const details = ['"a" has 4 acts instead of 0', ...ids.map((id) => `${id} is not listed`)];
  await expectCorrected([fault('owners'), ...ids.map(() => fault('of/a'))], details);
  expect(await service.redis.zrange(keyOf('of/a'), 0, -1)).toEqual(ids);
});

it('fsck removes audit entries from the list of a space if they do not exist or belong to another space', async () => {
  const [id] = ids as [string];
  for (const stray of [id, '1-0', 'no id']) await service.redis.zadd(keyOf('of/b'), 1, stray);
  const details = ['"b" has 2 acts instead of 5'];
  for (const stray of [id, '1-0', 'no id']) details.push(`${stray} is listed, but is not an act of this owner`);
  const faults = [fault('owners'), fault('of/b'), fault('of/b'), fault('of/b')];
  await expectCorrected(faults, details);
});

it.each([
  ['wrong', () => service.redis.zadd(keyOf('owners'), 7, 'a'), '"a" has 7 acts instead of 4'],
  ['missing', () => service.redis.zrem(keyOf('owners'), 'a'), '"a" has 0 acts instead of 4'],
  ['of nobody', () => service.redis.zadd(keyOf('owners'), 1, 'nobody'), '"nobody" has 1 acts instead of 0'],
])('fsck corrects a number of audit entries that is %s', async (_, damage, detail) => {
  await damage();
  await expectCorrected([fault('owners')], [detail]);
});

it('fsck reports unknown keys next to the keys of the audit', async () => {
  const others = ['{audit}', '{audit}:others', '{audit}:jobs/of', '{audit}:jobs/owners/', '{audit}:jobs2/of/a'];
  for (const key of others) await service.redis.set(`${service.store.settings.keyPrefix}:${key}`, '1');
  const faults = others.map((key): Short => ['key_unknown', null, key, 'none']);
  expect((await check(service.store)).short).toEqual(faults.sort());
  await removeAll();
});
