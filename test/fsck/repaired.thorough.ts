import { expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, readJob, sent, settled } from '../support/callbacks.js';
import { setField } from '../support/job-state.js';
import { jobIn } from '../support/jobs.js';
import { startRedis } from '../support/own-redis.js';
import { withReceiver } from '../support/receiver.js';
import { startService, withService } from '../support/service.js';
import { until } from '../support/until.js';
import { check } from './checking.js';

// With a scheduler: what was forgotten happens once the repair has put it back.
const receiver = withReceiver();
const service = withService({ DELIVERY_TIMEOUT_SECONDS: '1', CALLBACK_ALLOW_PRIVATE: 'true' });

const forget = (key: 'deadlines' | 'due' | 'callbacks', id: string) =>
  service.redis.zrem(service.store.keys[key](partitionOf('repaired')), id);
const repair = async () =>
  (await check({ ...service.store, settings: { ...service.store.settings, deliveryTimeoutMs: 1_000 } }, true)).short;
const lastOf = async (id: string) => (await readJob(service, id)).events.at(-1).type;

it('a job times out after fsck has restored its lost deadline', async () => {
  const running = await jobIn(service, 'running', 'repaired', { timeoutSeconds: 1 });
  const delivered = await jobIn(service, 'delivered', 'repaired');
  for (const id of [running, delivered]) expect(await forget('deadlines', id)).toBe(1);
  const kinds = (await repair()).map(([kind, id, , outcome]) => [kind, id, outcome]);
  expect(kinds.sort()).toEqual([running, delivered].map((id) => ['deadline_missing', id, 'done']).sort());
  await until(async () => (await lastOf(running)) === 'retried' && (await lastOf(delivered)) === 'delivery_timeout');
});

it('a scheduled job becomes pending after fsck has restored its lost time', async () => {
  const id = await jobIn(service, 'scheduled', 'repaired');
  await service.redis.hset(service.store.keys.job(id), 'scheduledFor', 1);
  expect(await forget('due', id)).toBe(1);
  const kinds = (await repair()).map(([kind, jobId, key, outcome]) => [kind, jobId, key.split(':').at(-1), outcome]);
  expect(kinds).toEqual([['entry_missing', id, 'due', 'done']]);
  await until(async () => (await lastOf(id)) === 'ready');
});

it('a lost callback is sent exactly once after fsck has restored it', async () => {
  const callbackUrl = receiver.script('/forgotten', respondWith(204));
  const id = await jobIn(service, 'completed', 'repaired');
  await setField(service.redis, service.store.keys.job(id), 'callbackUrl', callbackUrl);
  expect((await repair()).map(([kind, jobId]) => [kind, jobId])).toEqual([['callback_forgotten', id]]);
  expect(attemptsOf(await settled(service, id)).map(({ type }) => type)).toEqual([sent(204).type]);
  expect(receiver.requestsTo('/forgotten')).toHaveLength(1);
});

it('fsck repairs all faults while Redis is out of memory', async () => {
  const redis = await startRedis();
  const full = await startService({}, { redis, app: 'api' });
  try {
    const [scheduled, pending, running, ended] = [
      await jobIn(full, 'scheduled', 'repaired'),
      await jobIn(full, 'pending', 'repaired', { unique: { key: 'k' } }),
      await jobIn(full, 'running', 'repaired'),
      await jobIn(full, 'completed', 'repaired', { callbackUrl: 'https://example.com/hook' }),
    ];
    const { keys } = full.store;
    const partition = partitionOf('repaired');
    await full.redis.del(
      keys.queue('repaired'),
      keys.names('repaired'),
      keys.unique('repaired'),
      keys.deadlines(partition),
      keys.due(partition),
      keys.spaces(partition),
    );
    await full.redis.zrem(keys.callbacks(partition), ended);
    await full.redis.config('SET', 'maxmemory', '1');
    expect((await full.call('POST', '/spaces/repaired/jobs', { body: { name: 'more' } })).body.code).toBe(
      'STORAGE_FULL',
    );
    const { short } = await check(full.store, true);
    expect(short.map(([kind, id, , outcome]) => [kind, id, outcome])).toEqual(
      [
        ['callback_forgotten', ended, 'done'],
        ['deadline_missing', ended, 'done'],
        ['deadline_missing', running, 'done'],
        ['entry_missing', pending, 'done'],
        ['entry_missing', pending, 'done'],
        ['entry_missing', scheduled, 'done'],
        ['name_count_wrong', null, 'done'],
        ['space_missing', null, 'done'],
      ].sort(),
    );
    await full.redis.config('SET', 'maxmemory', '0');
  } finally {
    await full.stop().finally(() => redis.stop());
  }
});
