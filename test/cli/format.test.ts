import { afterEach, expect, it } from '@jest/globals';
import { withService } from '../support/service.js';
import { sharedService } from '../support/shared-service.js';
import { yardmasterHere } from './in-process.js';
import { endAll, yardmaster } from './yardmaster.js';

const service = withService({}, { app: 'api', isOwn: true });
afterEach(endAll);
afterEach(() => service.redis.hdel(service.store.keys.meta, 'format'));

const env = (more: Record<string, string> = {}) => ({
  REDIS_URL: sharedService().redisUrl,
  KEY_PREFIX: service.prefix,
  ...more,
});
const stored = () => service.redis.hget(service.store.keys.meta, 'format');
const NEWER =
  'yardmaster: Redis holds jobs in format 2, made by a newer release; this release knows formats up to 1: use the newer release\n';

it('shows the format, which is the first one when no format is stored', async () => {
  expect(await yardmaster(['format'], env()).end()).toEqual([
    0,
    ['Redis holds format 1. This release knows formats up to 1.'],
    '',
  ]);
});

it('raises nothing when the format is the highest that this release knows', async () => {
  const line = 'Redis holds format 1, the highest that this release knows: there is nothing to do.';
  expect(await yardmasterHere(['format', 'raise'], env()).end()).toEqual([0, [line], '']);
  expect(await stored()).toBeNull();
});

it.each(['format', 'format raise', 'fsck --repair'])('refuses "%s" on the format of a newer release', async (line) => {
  await service.redis.hset(service.store.keys.meta, 'format', 2);
  const [code, lines, err] = await yardmasterHere(line.split(' '), env()).end();
  expect([code, lines, err]).toEqual([line.startsWith('format') ? 1 : 2, [], NEWER]);
  expect(await stored()).toBe('2');
});

it('refuses a prefix without Yardmaster data', async () => {
  const end = await yardmasterHere(['format', 'raise'], env({ KEY_PREFIX: 'nothing' })).end();
  expect(end).toEqual([2, [], expect.stringContaining('no Yardmaster data under the prefix nothing')]);
});
