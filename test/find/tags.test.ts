import { describe, expect, it } from '@jest/globals';
import { expireDue, partitionOf, redisNow } from '@yardmaster/store';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';

// No scheduler: the test purges what is due itself.
const service = withService({}, { app: 'api', isOwn: true });

const idsWith = async (space: string, ...tags: string[]): Promise<string[]> => {
  const query = new URLSearchParams(tags.map((tag): [string, string] => ['tag', tag]));
  const { body } = await service.call('GET', `/spaces/${space}/jobs?${query}`);
  return body.map(({ id }: { id: string }) => id);
};

const TAGS = ['eu', 'say "ü"/\u2028', ' '];

it('shows tags in their order on a job and in lists, and none on an untagged job', async () => {
  const created = await createJob(service, 'shown', { tags: TAGS });
  const without = await createJob(service, 'shown', { tags: [] });
  expect([created, without]).toEqual([
    expect.objectContaining({ tags: TAGS }),
    expect.not.objectContaining({ tags: [] }),
  ]);
  const { body: read } = await service.call('GET', `/jobs/${created.id}`);
  const { body: listed } = await service.call('GET', '/spaces/shown/jobs');
  expect([read.tags, listed[1].tags, 'tags' in listed[0], 'tags' in without]).toEqual([TAGS, TAGS, false, false]);
});

it('finds the jobs that have all given tags as whole words', async () => {
  const make = async (...tags: string[]) => (await createJob(service, 'exact', { tags })).id;
  const both = await make('eu', 'west');
  const one = await make('west');
  await make('eu-west');
  await make('EU');
  expect(await idsWith('exact', 'west')).toEqual([one, both]);
  expect(await idsWith('exact', 'west', 'eu')).toEqual([both]);
  expect(await idsWith('exact', 'eu', 'none')).toEqual([]);
  // The index of `big` is the smaller one, so that the other tag is compared with those of the record.
  await make('eu-west', 'big');
  await make('eu');
  expect([await idsWith('exact', 'big', 'eu'), await idsWith('exact', 'big', 'west')]).toEqual([[], []]);
});

it('indexes the tags of each job in a list', async () => {
  const body = [{ name: 'a', tags: ['one'] }, { name: 'b' }, { name: 'c', tags: ['two', 'one'] }];
  const { status, body: created } = await service.call('POST', '/spaces/batch/jobs', { body });
  expect(status).toBe(201);
  const [first, , third] = created.map(({ id }: { id: string }) => id);
  expect(await idsWith('batch', 'one')).toEqual([third, first]);
  expect(await idsWith('batch', 'two')).toEqual([third]);
});

it('repeats a create with tags under its idempotency key, and refuses it with other tags', async () => {
  const send = (tags: string[]) =>
    service.call('POST', '/spaces/keyed/jobs', { body: { name: 'a', tags }, headers: { 'idempotency-key': 'k' } });
  const first = await send(['x']);
  const again = await send(['x']);
  expect([again.status, again.body.id, again.body.tags]).toEqual([201, first.body.id, ['x']]);
  expect((await send(['y'])).body.code).toBe('IDEMPOTENCY_MISMATCH');
});

it('copies tags with the job', async () => {
  const id = await jobIn(service, 'dead', 'copied', { tags: ['x'] });
  const { body } = await service.call('POST', `/jobs/${id}/copy`);
  expect(body.tags).toEqual(['x']);
  expect(await idsWith('copied', 'x')).toEqual([body.id, id]);
});

it('replaces tags together with the other options of a pending job', async () => {
  const send = (tags?: string[]) =>
    service.call('POST', '/spaces/replaced/jobs', {
      body: { name: 'a', tags, unique: { key: 'k', onConflict: 'replace' } },
    });
  const { id } = (await send(['old', 'kept'])).body;
  expect((await send(['kept', 'new'])).body).toMatchObject({ id, tags: ['kept', 'new'] });
  expect([await idsWith('replaced', 'old'), await idsWith('replaced', 'kept', 'new')]).toEqual([[], [id]]);
  expect((await send()).body.tags).toBeUndefined();
  expect(await idsWith('replaced', 'kept')).toEqual([]);
});

it('removes the tags of a job that is deleted or purged from the index', async () => {
  const { store, redis } = service;
  const deleted = await jobIn(service, 'killed', 'gone', { tags: ['x'] });
  const purged = await jobIn(service, 'completed', 'gone', { tags: ['x'] });
  expect(await idsWith('gone', 'x')).toEqual([purged, deleted]);
  expect((await service.call('DELETE', `/jobs/${deleted}`)).status).toBe(200);
  expect(await idsWith('gone', 'x')).toEqual([purged]);
  const partition = partitionOf('gone');
  await redis.zadd(store.keys.deadlines(partition), 'XX', 1, purged);
  await expireDue(store, partition, await redisNow(store));
  expect(await redis.exists(store.keys.jobsByTag('gone', 'x'))).toBe(0);
});

it('keeps tags of a job through retries and requeues', async () => {
  const id = await jobIn(service, 'dead', 'again', { tags: ['x'] });
  await step(service, id, 'requeue');
  const { body } = await service.call('GET', '/spaces/again/jobs?tag=x&status=pending');
  expect(body).toMatchObject([{ id, tags: ['x'] }]);
});

describe('tags that are refused', () => {
  const RULE = 'must be 1 to 64 characters';
  it.each<[tags: unknown, sentence: string]>([
    ['eu', 'tags must be an array of strings'],
    [[''], `tags[0] ${RULE}`],
    [['a', 'x'.repeat(65)], `tags[1] ${RULE}`],
    [['a', 7], 'tags[1] must be a string'],
    [['a', 'b', 'c', 'a\nb'], 'tags[3] must not contain control characters'],
    [['\u0085'], 'tags[0] must not contain control characters'],
    [['\ud800'], 'tags[0] must be well-formed Unicode'],
    [['a', 'b', 'a'], 'tags[2] must not be given twice'],
    [Array.from({ length: 11 }, (_, n) => `t${n}`), 'tags must have at most 10 tags'],
  ])('refuses the tags %j with 400: %s', async (tags, sentence) => {
    const { status, body } = await service.call('POST', '/spaces/refused/jobs', { body: { name: 'a', tags } });
    expect([status, body.error]).toEqual([400, sentence]);
  });

  it('accepts ten tags of 64 characters on a job', async () => {
    const tags = Array.from({ length: 10 }, (_, n) => `${n}${'🚂'.repeat(63)}`);
    expect(await createJob(service, 'refused', { tags })).toMatchObject({ tags });
  });
});
