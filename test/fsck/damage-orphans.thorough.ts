import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { createStore, FORMAT, partitionOf } from '@yardmaster/store';
import { isOfHistory } from '../support/fsck.js';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { check, expectRepaired, repaired, type Short } from './checking.js';

const service = withService({}, { app: 'api', isOwn: true });

it('fsck removes all traces of a job without a record, and then its empty space', async () => {
  const partition = partitionOf('gone');
  const id = await jobIn(service, 'running', 'gone', { callbackUrl: 'https://example.com/hook' });
  await service.call('POST', `/jobs/${id}/event`, { body: { a: 1 } });
  await service.call('POST', `/jobs/${id}/complete`, { body: { result: null } });
  await service.call('POST', `/jobs/${id}/logs`, { body: ['one', 'two'] });
  await service.redis.del(service.store.keys.job(id));
  const at = (kind: string, key: string, jobId: string | null = id): Short => [
    kind,
    jobId,
    `{${partition}}:${key}`,
    'possible',
  ];
  const own = [
    at('entry_stray', 'callbacks'),
    at('entry_stray', 'deadlines'),
    at('entry_stray', 'space:gone/jobs'),
    at('entry_stray', 'space:gone/status/completed'),
    at('orphaned', `job:${id}:events`),
    at('orphaned', `job:${id}:logs`),
  ];
  expect((await check(service.store)).short).toEqual(own.sort());
  // The space has no jobs any more only once its entries are removed.
  // And its counts of names go along with it.
  expect((await check(service.store, true)).short).toEqual(
    repaired([...own, at('space_empty', 'spaces', null)]).sort(),
  );
  expect((await check(service.store)).short).toEqual([]);
  const left = await service.redis.keys(`${service.prefix}:{${partition}}:*`);
  expect(left.filter((key) => !isOfHistory(key))).toEqual([]);
});

it('fsck removes a pending job without a record from the queues, so that a poll returns only other jobs', async () => {
  const partition = partitionOf('gone');
  const [lost, kept] = [await jobIn(service, 'pending', 'gone'), await jobIn(service, 'pending', 'gone')];
  await service.redis.del(service.store.keys.job(lost));
  await expectRepaired(
    service.store,
    ['jobs', 'queue', 'queue/work', 'status/pending'].map((index) => [
      'entry_stray',
      lost,
      `{${partition}}:space:gone/${index}`,
      'possible',
    ]),
    { later: [['name_count_wrong', null, `{${partition}}:space:gone/names`, 'possible']] },
  );
  const { jobs } = (await service.call('POST', '/spaces/gone/jobs/poll', { body: { count: 50 } })).body;
  expect(jobs.map(({ id }: { id: string }) => id)).toEqual([kept]);
  await service.call('POST', `/jobs/${kept}/kill`);
});

it('fsck removes a job from the indexes of another space', async () => {
  const id = await jobIn(service, 'pending', 'mine');
  // Of the same partition, so that a poll there would hand the job out.
  const other = Array.from({ length: 1_000 }, (_, n) => `other-${n}`).find(
    (space) => partitionOf(space) === partitionOf('mine'),
  );
  const keys = [`space:${other}/queue`, `space:${other}/jobs`].map((key) => `{${partitionOf('mine')}}:${key}`);
  for (const key of keys) await service.redis.zadd(`${service.prefix}:${key}`, 1, id);
  await expectRepaired(
    service.store,
    keys.map((key) => ['entry_stray', id, key, 'possible']),
  );
  expect((await service.call('POST', `/spaces/${other}/jobs/poll`)).body.jobs).toEqual([]);
  expect((await service.call('POST', '/spaces/mine/jobs/poll')).body.jobs).toHaveLength(1);
});

it('fsck removes a space without jobs from the list of spaces', async () => {
  const partition = partitionOf('empty');
  await service.redis.zadd(`${service.prefix}:{${partition}}:spaces`, 1, 'empty');
  await expectRepaired(service.store, [['space_empty', null, `{${partition}}:spaces`, 'possible']]);
});

it('fsck stores the number of partitions when it is missing', async () => {
  await service.redis.del(service.store.keys.meta);
  expect((await check(service.store)).faults[0]?.detail).toBe('it should be 64');
  await expectRepaired(service.store, [['partitions_missing', null, 'meta', 'possible']]);
  expect(await service.redis.hgetall(service.store.keys.meta)).toEqual({ partitions: '64', format: FORMAT });
});

it('fsck refuses a prefix without data or with a different number of partitions, and writes nothing', async () => {
  const store = createStore(service.redis, { keyPrefix: `t-${randomUUID().slice(0, 8)}` });
  await expect(check(store, true)).rejects.toThrow('there are no keys with the prefix');
  expect(await service.redis.exists(store.keys.meta)).toBe(0);
  await service.redis.hset(store.keys.meta, 'partitions', 32);
  await expect(check(store, true)).rejects.toThrow('Redis contains jobs in 32 partitions; this version uses 64');
  await service.redis.del(store.keys.meta);
});

it('fsck continues a running operation that is missing from the list of running ones', async () => {
  const { store, redis } = service;
  const body = { action: 'kill', filter: { status: 'pending' } };
  const { id } = (await service.call('POST', '/spaces/stopped/operations', { body })).body;
  expect((await check(store)).short).toEqual([]);
  const running = store.keys.operations(partitionOf('stopped'));
  await redis.del(running);
  await expectRepaired(service.store, [
    ['operation_stopped', null, `{${partitionOf('stopped')}}:operation:${id}`, 'possible'],
  ]);
  expect(await redis.zrange(running, 0, -1)).toEqual([id]);
});
