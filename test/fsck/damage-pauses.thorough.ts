import { beforeEach, describe, expect, it } from '@jest/globals';
import { partitionOf, pollJobs, requeueResumed, storedSettings } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { check, expectRepaired, type Short } from './checking.js';

// No scheduler: nothing but these tests looks after pauses.
const service = withService({}, { app: 'api', isOwn: true });
let space: string;
let spaces = 0;
beforeEach(() => {
  space = `pauses-${++spaces}`;
});

const keyOf = (rest: string) => `{${partitionOf(space)}}:${rest}`;
const call = (verb: string, body: object = {}) => service.call('POST', `/spaces/${space}/${verb}`, { body });
const NAMES = { names: ['work'] };

it('fsck finds no fault in jobs with a paused name that have left the queue of their space', async () => {
  const ids = [(await createJob(service, space)).id, (await createJob(service, space, { priority: 9 })).id];
  await call('pause', NAMES);
  expect((await pollJobs(service.store, space, { count: 50, names: [] })).jobs).toEqual([]);
  expect(await service.redis.exists(service.store.keys.queue(space))).toBe(0);
  expect((await check(service.store, true)).short).toEqual([]);
  await call('resume');
  const { jobs: claimed } = await pollJobs(service.store, space, { count: 50, names: [] });
  expect(claimed.map(({ id }) => id).sort()).toEqual(ids.sort());
});

it('fsck adds a job with a paused name to the queue of its name', async () => {
  const { id } = await createJob(service, space);
  await call('pause', NAMES);
  await pollJobs(service.store, space, { count: 1, names: [] });
  await service.redis.del(`${service.store.keys.queue(space)}/work`);
  await expectRepaired(service.store, [['entry_missing', id, keyOf(`space:${space}/queue/work`), 'possible']]);
});

it('fsck adds a job to the queue of its space when its name is no longer paused', async () => {
  const { id } = await createJob(service, space);
  await call('pause', NAMES);
  await pollJobs(service.store, space, { count: 1, names: [] });
  await service.redis.del(service.store.keys.paused(space));
  await expectRepaired(service.store, [['entry_missing', id, keyOf(`space:${space}/queue`), 'possible']]);
});

it('fsck restores the entry through which a sweep finds the paused names of a space', async () => {
  await call('pause', NAMES);
  await service.redis.del(service.store.keys.pauses(partitionOf(space)));
  await expectRepaired(service.store, [['pause_forgotten', null, keyOf('pauses'), 'possible']]);
  await call('pause');
  await call('resume');
});

it('fsck resumes a name whose pause has an impossible state', async () => {
  const { id } = await createJob(service, space);
  await call('pause', NAMES);
  await pollJobs(service.store, space, { count: 1, names: [] });
  await service.redis.hset(service.store.keys.paused(space), 'work', 'soon');
  await expectRepaired(service.store, [['pause_broken', null, keyOf(`space:${space}/paused`), 'possible']]);
  await requeueResumed(service.store, partitionOf(space));
  expect((await pollJobs(service.store, space, { count: 1, names: [] })).jobs[0]?.id).toBe(id);
});

describe('fsck of settings', () => {
  const settings = { retention: { deadSeconds: 0 }, maxPending: 5 };

  it('fsck accepts a job that its space keeps forever, and reports one without the mark of being kept', async () => {
    await service.call('PATCH', `/spaces/${space}/settings`, { body: settings });
    const id = await jobIn(service, 'dead', space);
    expect((await check(service.store)).short).toEqual([]);
    await service.call('PATCH', `/spaces/${space}/settings`, { body: { retention: null } });
    expect((await check(service.store)).short).toEqual([]);
    await service.redis.hdel(service.store.keys.job(id), 'kept');
    await expectRepaired(service.store, [['deadline_missing', id, keyOf('deadlines'), 'possible']]);
  });

  it.each<[what: string, harm: (sums: string, recounts: string) => unknown, fault: string, key: string]>([
    ['a wrong sum of bytes', (sums) => service.redis.hincrby(sums, 'sum', 7), 'bytes_wrong', 'space:%/bytes'],
    ['no sum of bytes', (sums) => service.redis.del(sums), 'recount_forgotten', 'recounts'],
    ['no recount', (_, recounts) => service.redis.zrem(recounts, space), 'recount_forgotten', 'recounts'],
    ['another limit', (sums) => service.redis.hset(sums, 'most', 7), 'recount_forgotten', 'recounts'],
  ])('fsck repairs a space with maxBytes that has %s', async (_, harm, fault, key) => {
    const { bytes, recounts } = service.store.keys;
    await service.call('PATCH', `/spaces/${space}/settings`, { body: { maxBytes: 1e9 } });
    await jobIn(service, 'completed', space);
    expect((await check(service.store)).short).toEqual([]);
    await harm(bytes(space), recounts(partitionOf(space)));
    await expectRepaired(service.store, [[fault, null, keyOf(key.replace('%', space)), 'possible']]);
  });

  it('fsck removes the sum of bytes of a space without maxBytes', async () => {
    await service.redis.hset(service.store.keys.bytes(space), 'round', 1, 'most', 7);
    await expectRepaired(service.store, [['orphaned', null, keyOf(`space:${space}/bytes`), 'possible']]);
  });

  it.each([
    ['that are not JSON', 'nonsense'],
    ['whose numbers are not those of their JSON', storedSettings(settings).replace('0', '7')],
  ])('fsck reports the settings of a space %s', async (_, text) => {
    const key = service.store.keys.settings(partitionOf(space));
    await service.redis.hset(key, space, text);
    const faults: Short[] = [['settings_broken', null, keyOf('settings'), 'none']];
    expect((await check(service.store, true)).short).toEqual(faults);
    await service.redis.hdel(key, space);
  });
});
