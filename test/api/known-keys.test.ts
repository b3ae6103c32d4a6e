import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// Two processes in front of the same jobs. Nothing but the news can tell the one what the other revoked: a test waits for it
// less long than a key is believed.
let one: TestService;
let other: TestService;
beforeEach(async () => {
  one = await startService({}, { app: createApi });
  other = await startService({ KEY_PREFIX: one.prefix }, { app: createApi });
});
afterEach(async () => {
  await other.stop();
  await one.stop();
});

const poll = async (service: TestService, key: string) => {
  const { status, body } = await service.call('POST', '/spaces/known/jobs/poll', { key });
  return status === 200 ? 'answered' : body.code;
};

it('refuses a revoked key at once, here and where the news is heard', async () => {
  const { id, key } = await one.key(['jobs:poll']);
  for (const service of [one, other, one, other]) expect(await poll(service, key)).toBe('answered');
  await one.call('DELETE', `/keys/${id}`);
  expect(await poll(one, key)).toBe('UNAUTHENTICATED');
  await until(async () => (await poll(other, key)) === 'UNAUTHENTICATED', 4_000);
});

it('refuses a wrong secret with a known id, before the right one was used and after', async () => {
  const { key } = await one.key(['jobs:poll']);
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  expect(await poll(one, wrong)).toBe('UNAUTHENTICATED');
  expect(await poll(one, key)).toBe('answered');
  expect(await poll(one, wrong)).toBe('UNAUTHENTICATED');
  expect(await poll(one, key)).toBe('answered');
});

it('grants a known key no more than an unknown one, and nothing in another space', async () => {
  const { key } = await one.key(['jobs:create'], { spaceId: 'mine' });
  const create = async (spaceId: string) =>
    (await one.call('POST', `/spaces/${spaceId}/jobs`, { key, body: { name: 'work' } })).status;
  for (let n = 0; n < 3; n++) {
    expect(await create('mine')).toBe(201);
    expect(await create('other')).toBe(403);
    expect(await poll(one, key)).toBe('FORBIDDEN');
  }
});
