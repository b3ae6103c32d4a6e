import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { ACTIONS, itemOf, poll, read, settle } from './settle.js';

const redis = withRedis();
const service = withService({}, { redis, app: 'api' });

/** Act while Redis has no memory left. */
async function whenFull<T>(act: () => Promise<T>): Promise<T> {
  await service.redis.config('SET', 'maxmemory', '1');
  try {
    return await act();
  } finally {
    await service.redis.config('SET', 'maxmemory', '0');
  }
}

const STATUS_AFTER = { ack: 'running', complete: 'completed', fail: 'scheduled', release: 'scheduled' };
const isStored = (action: string) => ['progress', 'checkpoint', 'event'].includes(action);

const newJobs = () =>
  Promise.all(ACTIONS.map((action) => jobIn(service, action === 'ack' ? 'delivered' : 'running', 'full')));

it.each(['in one call', 'one by one'])(
  'settle refuses only reports that need memory when Redis is full, %s',
  async (how) => {
    const ids = await newJobs();
    const items = ACTIONS.map((action, i) => itemOf(ids[i] as string, action, '0.0'));
    const portions = how === 'in one call' ? [items] : items.map((item) => [item]);
    const results = await whenFull(async () => {
      const all = [];
      for (const portion of portions) all.push(...(await settle(service, 'full', portion)).body.results);
      return all;
    });
    const FULL = { success: false, code: 'STORAGE_FULL', error: expect.any(String) };
    expect(results).toEqual(
      ACTIONS.map((action, i) => ({ jobId: ids[i], ...(isStored(action) ? FULL : { success: true }) })),
    );
    for (const [i, action] of ACTIONS.entries())
      expect((await read(service, ids[i] as string)).status).toBe(
        action in STATUS_AFTER ? STATUS_AFTER[action as keyof typeof STATUS_AFTER] : 'running',
      );
  },
);

it.each([1, 8])('poll settles and claims %s jobs with autoAck when Redis is full', async (count) => {
  const space = `full-${count}`;
  const fields = { maxRunSeconds: 50, startWithinSeconds: 90, unique: { key: 'k', until: 'started' } };
  const done = await jobIn(service, 'running', space);
  const { id } = await createJob(service, space, fields);
  for (let n = 1; n < count; n++) await createJob(service, space);
  const body = { count, autoAck: true, workerId: 'w', ackWithinSeconds: 9, settle: [itemOf(done, 'complete')] };
  const response = await whenFull(() => poll(service, space, body));
  expect(response).toMatchObject({ status: 200, body: { settled: [{ jobId: done, success: true }] } });
  expect(response.body.jobs).toHaveLength(count);
  expect(await read(service, id)).toMatchObject({ status: 'running', attemptNumber: 1, workerId: 'w' });
});
