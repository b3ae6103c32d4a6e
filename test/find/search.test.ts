import { describe, expect, it } from '@jest/globals';
import { createJobRequest, type ListedJob, listJobsQuery } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  completeJob,
  createJobs,
  deleteJob,
  expireDue,
  failJob,
  listJobs,
  packJob,
  partitionOf,
  pollJobs,
  redisNow,
} from '@yardmaster/store';
import { createJob, jobIn, step } from '../support/jobs.js';
import { Random } from '../support/random.js';
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

it('finds all jobs with a text page by page, in both orders', async () => {
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

/** Jobs at the beginning. `PAGING_JOBS=100000` for a long run. */
const JOBS = Number(process.env.PAGING_JOBS ?? 1_500);

/** Jobs that other calls move, create and remove for each page that is read. */
const MOVED = 20;

/** Create jobs with the tag `kept` and without, in turn. @returns the ids of those with the tag */
async function fillPages(spaceId: string, count: number): Promise<string[]> {
  const kept: string[] = [];
  for (let done = 0; done < count; done += 1_000) {
    const requests = Array.from({ length: Math.min(1_000, count - done) }, (_, n) =>
      createJobRequest.parse({ name: `n${n % 3}`, maxRetries: 0, tags: n % 2 === 0 ? ['kept', `t${n % 5}`] : null }),
    );
    const packed = requests.map((one) => packJob(spaceId, one, null));
    const options = { idempotencyKey: null, inTurn: <T>(run: () => Promise<T>) => run() };
    const { jobs } = await createJobs(service.store, spaceId, packed, options);
    kept.push(...jobs.filter((_, n) => n % 2 === 0).map(({ id }) => id));
  }
  return kept;
}

/**
 * Change a space as workers and operators do: end some jobs and create others. Jobs without the tag `kept` are deleted.
 *
 * @param created gets the number of jobs that were created
 */
async function churn(spaceId: string, random: Random): Promise<void> {
  const { store } = service;
  const { jobs: claimed } = await pollJobs(store, spaceId, { count: MOVED, names: [`n${random.below(3)}`] });
  for (const { id } of claimed) {
    if (random.chance(0.2)) continue;
    await ackJob(store, ANY_SPACE, id);
    if (random.chance(0.2)) continue;
    if (random.chance(0.3))
      await failJob(store, ANY_SPACE, id, { error: 'no', retryable: false, retryAfterSeconds: null });
    else await completeJob(store, ANY_SPACE, id, { ok: true });
  }
  const ended = listJobsQuery.parse({ status: ['completed', 'dead'], limit: '100', order: random.of(['asc', 'desc']) });
  const { jobs } = await listJobs(store, ANY_SPACE, spaceId, ended);
  const free = jobs.filter(({ tags }) => tags === undefined).slice(0, MOVED);
  await Promise.all(free.map(({ id }) => deleteJob(store, ANY_SPACE, id)));
  await fillPages(spaceId, MOVED);
}

const ANY_STATUS = ['pending', 'delivered', 'running', 'completed', 'dead'];

it.each([
  { order: 'desc', query: {} },
  { order: 'asc', query: {} },
  { order: 'desc', query: { status: ANY_STATUS } },
  { order: 'asc', query: { status: ANY_STATUS } },
  { order: 'desc', query: { tag: 'kept' } },
  { order: 'asc', query: { name: ['n0', 'n1', 'n2'], status: ANY_STATUS } },
])(
  'lists each job once while other jobs are created and end, $order with $query',
  async ({ order, query }) => {
    const space = `paging-${order}-${Object.keys(query).join('-')}`;
    const kept = await fillPages(space, JOBS);
    const random = new Random(7);
    const seen: ListedJob[] = [];
    let pages = 0;
    for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages++) {
      const parameters = new URLSearchParams({ order, limit: '97' });
      for (const [name, values] of Object.entries(query))
        for (const one of [values].flat()) parameters.append(name, one);
      if (cursor !== undefined) parameters.append('cursor', cursor);
      const page = service.call('GET', `/spaces/${space}/jobs?${parameters}`);
      // In ascending order, jobs that are created come after all others: without an end, the test would have none.
      if (pages < 200) await churn(space, random);
      const { status, body, headers } = await page;
      expect(status).toBe(200);
      seen.push(...body);
      cursor = headers['x-next-cursor'] as string | undefined;
    }
    const ids = seen.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const found = new Set(ids);
    expect(kept.filter((id) => !found.has(id))).toEqual([]);
    const places = seen.map(({ createdAt }) => createdAt);
    expect(places).toEqual([...places].sort((a, b) => (order === 'asc' ? 1 : -1) * (a < b ? -1 : a > b ? 1 : 0)));
    // While it was read, jobs were deleted and created.
    const { jobs } = (await service.call('GET', `/spaces/${space}/stats`)).body;
    expect(jobs.completed).toBeGreaterThan(0);
    expect(pages).toBeGreaterThan(JOBS / 2 / 100);
  },
  600_000,
);
