import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

type Claimed = { id: string; name: string };

const TYPES = ['resize', 'encode', 'mail', 'index'];
const FILTERS = [
  {},
  { type: 'resize' },
  { types: ['encode', 'mail'] },
  { names: ['index', 'resize'] },
  { name: 'mail' },
];

async function createMany(spaceId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 200) {
    await Promise.all(
      Array.from({ length: Math.min(200, count - from) }, (_, i) =>
        service.call('POST', `/spaces/${spaceId}/jobs`, { body: { name: TYPES[(from + i) % TYPES.length] } }),
      ),
    );
  }
}

/** Poll with one filter after the other until none of them finds a job. */
async function pollUntilEmpty(spaceId: string, worker: number): Promise<Claimed[]> {
  const held: Claimed[] = [];
  for (let misses = 0, turn = worker; misses < FILTERS.length; turn++) {
    const filter = FILTERS[turn % FILTERS.length];
    const count = 1 + (turn % 7);
    const { status, body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { ...filter, count } });
    expect(status).toBe(200);
    expect(body.jobs.length).toBeLessThanOrEqual(count);
    held.push(...body.jobs);
    misses = body.jobs.length === 0 ? misses + 1 : 0;
  }
  return held;
}

it('hands each of 10 000 jobs to exactly one of 50 pollers with mixed filters, oldest first within a type', async () => {
  await createMany('many', 10_000);
  const places = new Map((await service.redis.zrange(service.store.keys.jobs('many'), 0, -1)).map((id, i) => [id, i]));
  expect(places.size).toBe(10_000);
  // Redis publishes each delivery in the step that makes it: the order of the messages is the order of delivery.
  const stream = await StreamClient.open(service.url, `/spaces/many?token=${ADMIN_KEY}`);
  const deliveries = () => stream.messages.filter(({ type }) => type === 'delivered');

  const held = (await Promise.all(Array.from({ length: 50 }, (_, worker) => pollUntilEmpty('many', worker)))).flat();

  expect(held).toHaveLength(10_000);
  expect(new Set(held.map(({ id }) => id)).size).toBe(10_000);
  await until(() => deliveries().length === 10_000);
  for (const type of TYPES) {
    const inOrder = deliveries()
      .filter(({ jobName }) => jobName === type)
      .map(({ jobId }) => places.get(jobId) as number);
    expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
  }
  await stream.close();
}, 120_000);

it('merges the queues of several names by age', async () => {
  const created = [];
  for (const name of ['b', 'a', 'c', 'a', 'b', 'c', 'a']) {
    created.push((await service.call('POST', '/spaces/merge/jobs', { body: { name } })).body);
  }
  const expected = created.filter(({ name }) => name !== 'c').map(({ id }) => id);

  const { body } = await service.call('POST', '/spaces/merge/jobs/poll', { body: { types: ['a', 'b'], count: 50 } });

  expect(body.jobs.map(({ id }: Claimed) => id)).toEqual(expected);
});

it('steps over a queue entry whose record is gone', async () => {
  const lost = (await service.call('POST', '/spaces/orphan/jobs', { body: { name: 'work' } })).body.id;
  const kept = (await service.call('POST', '/spaces/orphan/jobs', { body: { name: 'work' } })).body.id;
  const { keys } = service.store;
  await service.redis.del(keys.job(lost));

  const { body } = await service.call('POST', '/spaces/orphan/jobs/poll');

  expect(body.jobs.map(({ id }: Claimed) => id)).toEqual([kept]);
  const listed = await service.call('GET', '/spaces/orphan/jobs');
  expect(listed.body.map(({ id }: Claimed) => id)).toEqual([kept]);
  // What the poll cannot know of, the test clears away itself.
  await service.redis.zrem(keys.jobs('orphan'), lost);
  await service.redis.zrem(keys.jobsByStatus('orphan', 'pending'), lost);
  await service.redis.zrem(`${keys.queue('orphan')}/work`, lost);
  await service.redis.zincrby(keys.names('orphan'), -1, 'work');
});
