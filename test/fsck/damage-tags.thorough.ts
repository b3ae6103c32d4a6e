import { beforeEach, expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { newJobId, partitionOf } from '@yardmaster/store';
import { readState, setField } from '../support/job-state.js';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { check, expectRepaired } from './checking.js';

const service = withService({}, { app: 'api', isOwn: true });
let space: string;
let spaces = 0;
beforeEach(() => {
  space = `tags-${++spaces}`;
});

const TAG = 'say "ü"/queue';
const index = (tag = TAG) => service.store.keys.jobsByTag(space, tag);
const keyOf = (tag = TAG) => `{${partitionOf(space)}}:space:${space}/tag/${tag}`;
const orderOf = async (id: string) => (await readState(service.redis, service.store.keys.job(id))).order;

const expectFault = (kind: string, jobId: string, detail: string) =>
  expectRepaired(service.store, [[kind, jobId, keyOf(), 'possible']], { details: [detail] });

it('fsck finds no fault in tagged jobs of any status', async () => {
  for (const status of STATUSES) await jobIn(service, status, space, { tags: [TAG, 'jobs'] });
  expect((await check(service.store)).short).toEqual([]);
});

it.each(STATUSES)('fsck adds a %s job to the index of its tag', async (status) => {
  const id = await jobIn(service, status, space, { tags: ['other', TAG] });
  await service.redis.del(index());
  await expectFault('entry_missing', id, `belongs at ${await orderOf(id)}`);
  expect(await service.redis.zscore(index(), id)).toBe(await orderOf(id));
});

it('fsck moves a job to its correct place in the index of its tag', async () => {
  const id = await jobIn(service, 'pending', space, { tags: [TAG] });
  await service.redis.zadd(index(), 5, id);
  await expectFault('entry_misplaced', id, `at 5 instead of ${await orderOf(id)}`);
});

it('fsck removes a job from the index of a tag that is only part of its own tag', async () => {
  const id = await jobIn(service, 'pending', space, { tags: [`${TAG}s`] });
  await service.redis.zadd(index(), Number(await orderOf(id)), id);
  await expectFault('entry_stray', id, 'the job does not have this tag');
  expect(await service.redis.exists(index())).toBe(0);
});

it('fsck removes a job that does not exist from the index of a tag', async () => {
  await jobIn(service, 'pending', space, { tags: [TAG] });
  const lost = newJobId(space);
  await service.redis.zadd(index(), 5, lost);
  await expectFault('entry_stray', lost, 'the job does not exist');
});

it.each(['', 'a\n', 'a\n\nb', 'a\nb\na', 'a\tb', Array.from({ length: 11 }, (_, n) => n).join('\n')])(
  'fsck reports a record with the tags %j, and leaves it unchanged',
  async (tags) => {
    const id = await jobIn(service, 'pending', space);
    await setField(service.redis, service.store.keys.job(id), 'tags', tags);
    for (const isRepairing of [false, true]) {
      const { short } = await check(service.store, isRepairing);
      expect(short).toEqual([['record_broken', id, `{${partitionOf(space)}}:job:${id}`, 'none']]);
    }
    await setField(service.redis, service.store.keys.job(id), 'tags', null);
  },
);

it('fsck reports the index of an empty tag as an unknown key', async () => {
  await service.redis.zadd(index(''), 5, newJobId(space));
  expect((await check(service.store)).short).toEqual([['key_unknown', null, keyOf(''), 'none']]);
  await service.redis.del(index(''));
});
