import { beforeEach, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { createJob, expireDue, partitionOf, redisNow } from '@yardmaster/store';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { check, expectRepaired, type Short } from './checking.js';

let names: string;
let space: string;
let spaces = 0;
const service = withService({}, { app: 'api', isOwn: true });
beforeEach(async () => {
  space = `names-${++spaces}`;
  names = service.store.keys.names(space);
  for (const [status, name] of [
    ['pending', 'work'],
    ['completed', 'work'],
    ['killed', 'a/b'],
  ] as const) {
    await jobIn(service, status, space, { name });
  }
});

const keyOf = (index: string) => `{${partitionOf(space)}}:space:${space}/${index}`;

const wrong = (count: number) =>
  Array.from({ length: count }, (): Short => ['name_count_wrong', null, keyOf('names'), 'possible']);

it.each([
  ['too high', () => service.redis.zincrby(names, 2, 'work'), ['work: 4 instead of 2']],
  ['too low', () => service.redis.zincrby(names, -1, 'work'), ['work: 1 instead of 2']],
  ['missing for a name', () => service.redis.zrem(names, 'a/b'), ['a/b: 0 instead of 1']],
  ['above 0 for a name without jobs', () => service.redis.zadd(names, 3, 'rest'), ['rest: 3 instead of 0']],
  ['0 for a name without jobs', () => service.redis.zadd(names, 0, 'rest'), ['rest: 0 instead of 0']],
  // As after an upgrade from a release that kept none.
  ['missing for all names', () => service.redis.del(names), ['a/b: 0 instead of 1', 'work: 0 instead of 2']],
])('fsck recounts the jobs of each name when a count is %s', async (_, harm, details) => {
  await harm();
  await expectRepaired(service.store, wrong(details.length), { details });
  expect(await service.redis.zrange(names, 0, -1, 'WITHSCORES')).toEqual(['a/b', '1', 'work', '2']);
});

it('fsck counts the jobs of more names than fit in one step', async () => {
  const jobs = Array.from({ length: 450 }, (_, n) => createJobRequest.parse({ name: `name-${n % 130}` }));
  for (const job of jobs) await createJob(service.store, space, job);
  await service.redis.zincrby(names, 1, 'name-0');
  await service.redis.zincrby(names, 1, 'name-129');
  await expectRepaired(service.store, wrong(2), { details: ['name-0: 5 instead of 4', 'name-129: 4 instead of 3'] });
});

it('fsck checks no counts of names while an index of the space has faults', async () => {
  const [id = ''] = await service.redis.zrange(service.store.keys.jobs(space), 0, 0);
  await service.redis.zrem(service.store.keys.jobs(space), id);
  await service.redis.zadd(names, 7, 'rest');
  expect((await check(service.store)).short).toEqual([['entry_missing', id, keyOf('jobs'), 'possible']]);
  expect((await check(service.store, true)).short).toEqual([
    ['entry_missing', id, keyOf('jobs'), 'done'],
    ['name_count_wrong', null, keyOf('names'), 'done'],
  ]);
  expect((await check(service.store)).short).toEqual([]);
});

it('fsck removes the counts of names in a space without jobs', async () => {
  await service.redis.zadd(service.store.keys.names('nobody'), 3, 'work');
  space = 'nobody';
  await expectRepaired(service.store, [['orphaned', null, keyOf('names'), 'possible']], {
    details: ['nobody has no jobs'],
  });
});

it('fsck skips the counts of names in a space whose jobs are purged during the count', async () => {
  for (let n = 0; n < 6; n++) await jobIn(service, 'killed', space);
  const killed = await service.redis.zrange(service.store.keys.jobsByStatus(space, 'killed'), 0, -1);
  const partition = partitionOf(space);
  const redis = service.redis.duplicate();
  const ask = redis.evalsha.bind(redis) as (...inputs: unknown[]) => Promise<unknown>;
  // Between the counting and each comparing of it.
  const purgeFirst = async (...inputs: unknown[]) => {
    const id = inputs[2] === names ? killed.pop() : undefined;
    if (id !== undefined) {
      await service.redis.zadd(service.store.keys.deadlines(partition), 1, id);
      expect(await expireDue(service.store, partition, await redisNow(service.store))).toMatchObject({ purged: 1 });
    }
    return ask(...inputs);
  };
  Object.assign(redis, { evalsha: purgeFirst });
  const { short, seen } = await check({ ...service.store, redis });
  redis.disconnect();
  expect([short, seen.uncounted]).toEqual([[], 1]);
  expect((await check(service.store)).seen.uncounted).toBe(0);
});
