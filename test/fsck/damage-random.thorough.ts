import { expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { PARTITION_TAGS, partitionOf } from '@yardmaster/store';
import { jobIn } from '../support/jobs.js';
import { Random } from '../support/random.js';
import { withService } from '../support/service.js';
import { check } from './checking.js';

const service = withService({}, { app: 'api', isOwn: true });

const SPACES = ['random-a', 'random-b'];

/** Write into indexes, remove from them, and remove them, without looking. */
async function harm(random: Random, ids: string[]): Promise<void> {
  const { redis, prefix } = service;
  const space = random.of(SPACES);
  const tag = random.chance(0.9) ? partitionOf(space) : random.of(PARTITION_TAGS);
  const index = random.of([
    ...['jobs', 'queue', 'queue/work', 'queue/rest', ...STATUSES.map((status) => `status/${status}`)].map(
      (name) => `space:${space}/${name}`,
    ),
    'deadlines',
    'due',
    'callbacks',
    'spaces',
  ]);
  const key = `${prefix}:{${index.startsWith('space:') ? partitionOf(space) : tag}}:${index}`;
  const member = index === 'spaces' ? space : random.of([...ids, ...ids, 'nonsense', `${tag}${'a'.repeat(26)}`]);
  const score = random.of(['0', '1', '-inf', 'inf', '1.5', String(Date.now() * 1024), '9007199254740993', '1e300']);
  if (random.chance(0.05)) await redis.del(key);
  else if (random.chance(0.5)) await redis.zrem(key, member);
  else await redis.zadd(key, score, member);
}

it.each([1, 2, 3])(
  'fsck repairs random damage to the indexes in one run, after which all jobs work: seed %i',
  async (seed) => {
    const random = new Random(seed);
    const ids: string[] = [];
    for (const status of STATUSES) {
      for (const [n, space] of SPACES.entries()) {
        const fields = {
          name: n === 0 ? 'work' : 'rest',
          ...(n === 0 ? { callbackUrl: 'https://example.com/hook', startWithinSeconds: 3_600 } : { priority: 60 }),
        };
        ids.push(await jobIn(service, status, space, fields));
      }
    }
    for (let n = 0; n < 60; n++) await harm(random, ids);

    const found = await check(service.store);
    expect(found.short.length).toBeGreaterThan(10);
    const repair = await check(service.store, true);
    expect(new Set(repair.short.map(([, , , what]) => what))).toEqual(new Set(['done']));
    expect((await check(service.store)).short).toEqual([]);

    // Each is handed out that is pending, and once.
    const pending: string[] = [];
    for (const space of SPACES) {
      const jobs = (await service.call('GET', `/spaces/${space}/jobs?status=pending&limit=100`)).body;
      pending.push(...jobs.map(({ id }: { id: string }) => id));
      const polled = (await service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 50 } })).body.jobs;
      expect(polled.map(({ id }: { id: string }) => id).sort()).toEqual(pending.splice(0).sort());
    }
    // New jobs come after all others.
    const last = await jobIn(service, 'pending', 'random-a');
    expect((await service.call('GET', '/spaces/random-a/jobs?limit=1')).body[0].id).toBe(last);
  },
);
