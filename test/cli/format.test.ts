import { afterEach, expect, it } from '@jest/globals';
import { FORMAT, FormatError } from '@yardmaster/store';
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
const NEWER = `yardmaster: ${new FormatError('2', FORMAT).message}\n`;

it('shows format 1 when no format is stored', async () => {
  expect(await yardmaster(['format'], env()).end()).toEqual([
    0,
    ['The stored format is 1. This release knows formats up to 1.'],
    '',
  ]);
});

it('changes nothing with format raise when the stored format is the highest known one', async () => {
  const line = 'The stored format is already 1, the highest that this release knows. Nothing was changed.';
  expect(await yardmasterHere(['format', 'raise'], env()).end()).toEqual([0, [line], '']);
  expect(await stored()).toBeNull();
});

it.each(['format', 'format raise', 'fsck --repair'])(
  'refuses "%s" on data in the format of a newer release',
  async (line) => {
    await service.redis.hset(service.store.keys.meta, 'format', 2);
    const [code, lines, err] = await yardmasterHere(line.split(' '), env()).end();
    expect([code, lines, err]).toEqual([line.startsWith('format') ? 1 : 2, [], NEWER]);
    expect(await stored()).toBe('2');
  },
);

it('refuses format raise under a prefix that holds no Yardmaster data', async () => {
  const end = await yardmasterHere(['format', 'raise'], env({ KEY_PREFIX: 'nothing' })).end();
  expect(end).toEqual([2, [], expect.stringContaining('no Yardmaster data under the prefix nothing')]);
});
