import { beforeEach, expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { newJobId, partitionOf } from '@yardmaster/store';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { check, expectRepaired } from './checking.js';

const service = withService({}, { app: 'api', isOwn: true });
let space: string;
let spaces = 0;
beforeEach(() => {
  space = `unique-${++spaces}`;
});

const FIELD = '4:workk';
const hash = () => service.store.keys.unique(space);
const keyOf = () => `{${partitionOf(space)}}:space:${space}/unique`;
const withKey = (status: Parameters<typeof jobIn>[1], unique = {}) =>
  jobIn(service, status, space, { unique: { key: 'k', ...unique }, maxRetries: 0 });
const retry = async (id: string) => service.call('POST', `/jobs/${id}/fail`, { body: { error: 'x' } });

const expectFault = (kind: string, jobId: string, detail: string) =>
  expectRepaired(service.store, [[kind, jobId, keyOf(), 'possible']], { details: [detail] });

it('fsck finds no fault in jobs of any status with unique keys of any kind', async () => {
  for (const until of ['ended', 'started', 'expired']) {
    for (const status of STATUSES) {
      const ttl = until === 'expired' ? { ttlSeconds: 60 } : {};
      await withKey(status, { key: `${until} ${status}`, until, ...ttl });
    }
  }
  const id = await jobIn(service, 'running', space, { unique: { key: 'retried', until: 'started' } });
  await retry(id);
  expect((await check(service.store)).short).toEqual([]);
});

it.each(['scheduled', 'pending', 'delivered', 'running'] as const)(
  'fsck adds the unique key of a %s job',
  async (status) => {
    const id = await withKey(status);
    await service.redis.del(hash());
    await expectFault('entry_missing', id, 'the job occupies its unique key');
    expect(await service.redis.hgetall(hash())).toEqual({ [FIELD]: id });
  },
);

it('fsck adds the unique key of a job if its entry names a job that does not exist', async () => {
  const id = await withKey('pending');
  const lost = newJobId(space);
  await service.redis.hset(hash(), FIELD, lost);
  const { short } = await check(service.store, true);
  expect(short.map(([kind, jobId]) => [kind, jobId])).toContainEqual(['entry_missing', id]);
  expect((await check(service.store)).short).toEqual([]);
});

it.each(['completed', 'dead', 'killed'] as const)('fsck removes the unique key of a %s job', async (status) => {
  const id = await withKey(status);
  await service.redis.hset(hash(), FIELD, id);
  await expectFault('entry_wrong', id, `the job is ${status}`);
});

it('fsck removes a unique key that an ack has freed', async () => {
  const id = await withKey('running', { until: 'started' });
  await service.redis.hset(hash(), FIELD, id);
  await expectFault('entry_wrong', id, 'the job has freed its unique key');
});

it('fsck removes the entry of a unique key that names a job that does not exist', async () => {
  await jobIn(service, 'pending', space);
  const lost = newJobId(space);
  await service.redis.hset(hash(), FIELD, lost);
  await expectFault('entry_stray', lost, 'the job does not exist');
});

it('fsck removes the entry of a unique key whose job has another key or none', async () => {
  const id = await withKey('pending', { key: 'other' });
  await service.redis.hset(hash(), FIELD, id);
  await expectFault('entry_stray', id, 'the job does not have this unique key');
  const without = await jobIn(service, 'pending', space);
  await service.redis.hset(hash(), FIELD, without);
  await expectFault('entry_stray', without, 'the job does not have this unique key');
});

it('fsck reports two jobs that hold the same unique key, and leaves them unchanged', async () => {
  const first = await withKey('pending');
  await service.redis.del(hash());
  const second = await withKey('pending');
  for (const isRepairing of [false, true]) {
    const { short, faults } = await check(service.store, isRepairing);
    expect(short).toEqual([['unique_twice', first, keyOf(), 'none']]);
    expect(faults[0]?.detail).toBe(`job ${second} also occupies the key`);
  }
  await service.call('POST', `/jobs/${first}/kill`, { body: {} });
  expect((await check(service.store)).short).toEqual([]);
});

it('fsck accepts a job with fewer retries than it has had, because its request was replaced', async () => {
  const id = await jobIn(service, 'running', space, { unique: { key: 'k' }, maxRetries: 5 });
  await retry(id);
  for (const verb of ['claim', 'ack']) await service.call('POST', `/jobs/${id}/${verb}`);
  await retry(id);
  const body = { name: 'work', maxRetries: 0, unique: { key: 'k', onConflict: 'replace' } };
  expect((await service.call('POST', `/spaces/${space}/jobs`, { body })).body).toMatchObject({
    id,
    attemptNumber: 2,
  });
  expect((await check(service.store)).short).toEqual([]);
});
