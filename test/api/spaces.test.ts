import { expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';

const service = withService({}, { isOwn: true });

async function pageOf(query: string, key?: string) {
  const { status, body } = await service.call('GET', `/spaces${query}`, key === undefined ? {} : { key });
  expect(status).toBe(200);
  return body as { spaces: { spaceId: string }[]; nextCursor: string | null };
}

/** Read all pages, and call a function between them. */
async function allOf(limit: number, between: () => Promise<unknown> = async () => undefined): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await pageOf(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    expect(page.spaces.length).toBeLessThanOrEqual(limit);
    ids.push(...page.spaces.map(({ spaceId }) => spaceId));
    cursor = page.nextCursor;
    await between();
  }
  return ids;
}

const idsOf = ({ spaces }: { spaces: { spaceId: string }[] }) => spaces.map(({ spaceId }) => spaceId);

it('lists the spaces that have jobs, with the figures of their statistics', async () => {
  expect(await pageOf('')).toEqual({ spaces: [], nextCursor: null });
  await jobIn(service, 'running', 'figures');
  await jobIn(service, 'pending', 'figures');
  await jobIn(service, 'scheduled', 'figures');
  const { body: stats } = await service.call('GET', '/spaces/figures/stats');
  const { spaces, nextCursor } = await pageOf('');
  expect(nextCursor).toBeNull();
  expect(spaces).toEqual([{ spaceId: 'figures', jobs: stats.jobs, oldestPendingAgeSeconds: expect.any(Number) }]);
  expect(stats.jobs).toEqual({
    ...{ scheduled: 1, pending: 1, delivered: 0, running: 1 },
    ...{ completed: 0, dead: 0, killed: 0, total: 3 },
  });
});

it('lists each space exactly once on pages of any size while jobs are created', async () => {
  const names = Array.from({ length: 90 }, (_, n) => `paged-${n}`);
  for (const name of names) await createJob(service, name);
  const expected = [...names, 'figures'].sort((a, b) => (`${partitionOf(a)} ${a}` < `${partitionOf(b)} ${b}` ? -1 : 1));
  for (const limit of [1, 7, 45, 100]) expect(await allOf(limit)).toEqual(expected);
  let next = 0;
  const shuffle = () => Promise.all(Array.from({ length: 20 }, () => createJob(service, names[next++ % 90] as string)));
  expect(await allOf(7, shuffle)).toEqual(expected);
});

it('lists only its own space to a key bound to one space', async () => {
  await createJob(service, 'mine');
  const { key } = await service.key(['jobs:read'], { spaceId: 'mine' });
  expect(idsOf(await pageOf('', key))).toEqual(['mine']);
  expect(await pageOf('?cursor=mine', key)).toEqual({ spaces: [], nextCursor: null });
  const { key: ofEmpty } = await service.key(['jobs:read'], { spaceId: 'without-jobs' });
  expect(await pageOf('', ofEmpty)).toEqual({ spaces: [], nextCursor: null });
});

it('no longer lists a space once its last job is deleted', async () => {
  const id = await jobIn(service, 'completed', 'emptied');
  expect(await allOf(50)).toContain('emptied');
  await service.call('DELETE', `/jobs/${id}`);
  expect(await allOf(50)).not.toContain('emptied');
});

it.each([
  ['cursor=a%2Fb', 'cursor must be 1 to 128 characters of A-Z a-z 0-9 . _ : -'],
  ['limit=0', 'limit must be an integer of at least 1'],
  ['curser=a', 'unknown query parameter curser, did you mean cursor?'],
])('refuses the query %s in the list of spaces', async (query, error) => {
  const response = await service.call('GET', `/spaces?${query}`);
  expect(response).toMatchObject({ status: 400, body: { error, code: 'INVALID_REQUEST' } });
});
