import { describe, expect, it } from '@jest/globals';
import { createJobRequest, listJobsQuery } from '@yardmaster/protocol';
import { ANY_SPACE, createJobs, expireDue, listJobs, packJob, partitionOf, redisNow } from '@yardmaster/store';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';

const service = withService({}, { app: 'api', isOwn: true });

/** Create jobs, some thousand at once. @param payloadOf of the n-th */
async function fill(spaceId: string, count: number, payloadOf: (n: number) => object): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < count; from += 1_000) {
    const packed = Array.from({ length: Math.min(1_000, count - from) }, (_, n) =>
      packJob(spaceId, createJobRequest.parse({ name: `n${n % 2}`, payload: payloadOf(from + n) }), null),
    );
    const options = { idempotencyKey: null, inTurn: <T>(run: () => Promise<T>) => run() };
    ids.push(...(await createJobs(service.store, spaceId, packed, options)).jobs.map(({ id }) => id));
  }
  return ids;
}

/** Read all pages of a list. @returns the ids on each */
async function pagesOf(spaceId: string, query: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: unknown = null; cursor !== undefined; ) {
    const next = cursor === null ? '' : `&cursor=${cursor}`;
    const { body, headers } = await service.call('GET', `/spaces/${spaceId}/jobs?${query}${next}`);
    pages.push(body.map(({ id }: { id: string }) => id));
    cursor = headers['x-next-cursor'];
  }
  return pages;
}

it('ends a page of a search after 10,000 jobs without a match, with a cursor to the next ones', async () => {
  const ids = await fill('many', 21_000, (n) => (n === 500 ? { note: 'Needle' } : {}));
  for (const query of ['q=needle', 'q=needle&name=n0&status=pending']) {
    const pages = await pagesOf('many', query);
    expect([pages.length >= 3, pages[0], pages.flat()]).toEqual([true, [], [ids[500]]]);
  }
  expect((await pagesOf('many', 'name=none')).flat()).toEqual([]);
});

it('finds all jobs that contain a text, page by page, in both orders', async () => {
  const ids = await fill('pages', 1_300, (n) => ({ text: n % 7 === 0 ? 'seventh' : 'other' }));
  const wanted = ids.filter((_, n) => n % 7 === 0);
  for (const limit of [1, 10, 93, 100]) {
    const ascending = await pagesOf('pages', `q=Seventh&order=asc&limit=${limit}`);
    expect(ascending.flat()).toEqual(wanted);
    expect(ascending.slice(0, -2).map(({ length }) => length)).toEqual(ascending.slice(0, -2).map(() => limit));
    expect((await pagesOf('pages', `q=Seventh&limit=${limit}`)).flat()).toEqual([...wanted].reverse());
  }
});

it('finds a text in large payloads', async () => {
  const large = 'x'.repeat(200_000);
  for (let n = 0; n < 5; n++) await createJob(service, 'large', { payload: { large, n: `text ${n}` } });
  const { body } = await service.call('GET', '/spaces/large/jobs?q=text%203');
  expect(body.map(({ payload }: { payload: { n: string } }) => payload.n)).toEqual(['text 3']);
});

it('lists no job that changed after its text was found', async () => {
  const { redis, store } = service;
  const { id } = await createJob(service, 'changed', { payload: { text: 'needle' } });
  // The job changes between the commands that read its text and those that read the rest of it.
  let reads = 0;
  const hmget = redis.hmget.bind(redis);
  const changing = Object.assign(Object.create(redis), {
    async hmget(...command: Parameters<typeof hmget>) {
      const reply = await hmget(...command);
      if (++reads === 1) await service.call('POST', `/jobs/${id}/claim`);
      return reply;
    },
  });
  const query = listJobsQuery.parse({ q: 'needle', status: 'pending' });
  expect(await listJobs({ ...store, redis: changing }, ANY_SPACE, 'changed', query)).toEqual({
    jobs: [],
    nextCursor: null,
  });
  expect(reads).toBe(2);
});

it('skips an index entry without a record in a search', async () => {
  const { redis, store } = service;
  const { id: lost } = await createJob(service, 'lost', { tags: ['x'], payload: { text: 'needle' } });
  const { id: kept } = await createJob(service, 'lost', { tags: ['x'], payload: { text: 'needle' } });
  await redis.del(store.keys.job(lost));
  for (const query of ['q=needle', 'tag=x', 'name=work', 'status=pending&status=dead', 'tag=x&q=needle']) {
    expect([query, (await pagesOf('lost', query)).flat()]).toEqual([query, [kept]]);
  }
  // The test removes the record without its entries, which no script does.
  await redis.zrem(store.keys.jobs('lost'), lost);
  await redis.zrem(store.keys.jobsByStatus('lost', 'pending'), lost);
  await redis.zrem(store.keys.jobsByTag('lost', 'x'), lost);
  for (const queue of [store.keys.queue('lost'), `${store.keys.queue('lost')}/work`]) await redis.zrem(queue, lost);
  await redis.zincrby(store.keys.names('lost'), -1, 'work');
});

const idsWith = async (space: string, ...tags: string[]): Promise<string[]> => {
  const query = new URLSearchParams(tags.map((tag): [string, string] => ['tag', tag]));
  const { body } = await service.call('GET', `/spaces/${space}/jobs?${query}`);
  return body.map(({ id }: { id: string }) => id);
};

const TAGS = ['eu', 'say "ü"/\u2028', ' '];

it('shows tags in their original order on jobs and in lists, and none on an untagged job', async () => {
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

it('finds the jobs that have all given tags, matched as a whole', async () => {
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
    [['a', 'b', 'a'], 'tags[2] must not be a duplicate'],
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
