import { expect, it } from '@jest/globals';
import { createJobRequest, listJobsQuery } from '@yardmaster/protocol';
import { ANY_SPACE, createJobs, listJobs, packJob } from '@yardmaster/store';
import { createJob } from '../support/jobs.js';
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
