import { expect, it } from '@jest/globals';
import { createJobRequest, type ListedJob, listJobsQuery } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  completeJob,
  createJobs,
  deleteJob,
  failJob,
  listJobs,
  packJob,
  pollJobs,
} from '@yardmaster/store';
import { Random } from '../support/random.js';
import { withService } from '../support/service.js';

const service = withService({}, { app: 'api', isOwn: true });

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
  'lists each job once while other jobs are created and ended, $order with $query',
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
