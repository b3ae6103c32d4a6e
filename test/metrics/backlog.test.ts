import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { createScheduler } from '@yardmaster/scheduler';
import { ANY_SPACE, createJob, killJob, PARTITION_TAGS, pollJobs, redisNow, type Store } from '@yardmaster/store';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { byLabel, readText, scrape } from './scrape.js';

let redis: OwnRedis;
let scheduler: TestService;
let store: Store;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  scheduler = await startService({ METRICS_SPACES: '3' }, { redisUrl: redis.url, app: createScheduler });
  store = scheduler.store;
});
afterEach(() => scheduler.stop());

const create = (spaceId: string, fields = {}) =>
  createJob(store, spaceId, createJobRequest.parse({ name: 'work', ...fields }));
const depths = async () => byLabel(await scrape(scheduler), 'yardmaster_queue_depth');

/** Scrape until what is shown, which may be a second old, is this. */
async function untilDepthsAre(expected: Record<string, number>): Promise<void> {
  let seen = {};
  await until(async () => {
    seen = await depths();
    return JSON.stringify(Object.entries(seen).sort()) === JSON.stringify(Object.entries(expected).sort());
  }, 5_000).catch(() => expect(seen).toEqual(expected));
}

it('shows the pending jobs of each space, and how long the next one has waited', async () => {
  const first = await create('busy');
  await create('busy');
  const gone = await create('idle');
  await killJob(store, ANY_SPACE, gone.id, null);
  await untilDepthsAre({ busy: 2, idle: 0 });
  const shown = await scrape(scheduler);
  expect(shown.get('yardmaster_queue_pending_jobs')).toBe(2);
  expect(shown.get('yardmaster_queue_spaces_left_out')).toBe(0);
  const ages = byLabel(shown, 'yardmaster_queue_oldest_age_seconds');
  expect(Object.keys(ages)).toEqual(['busy']);

  // As if it had been created an hour before.
  const key = store.keys.queue('busy');
  await store.redis.zincrby(key, -3_600_000 * 1_024, first.id);
  const age = async () => byLabel(await scrape(scheduler), 'yardmaster_queue_oldest_age_seconds').busy as number;
  await until(async () => (await age()) > 3_600);
  await store.redis.zincrby(key, 3_600_000 * 1_024, first.id);
});

it('shows those used most recently, those with pending jobs first, and how many it leaves out', async () => {
  for (const space of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const created = Date.parse((await create(space)).createdAt);
    // Those of one millisecond are in any order.
    await until(async () => (await redisNow(store)) > created);
  }
  await untilDepthsAre({ d: 1, e: 1, f: 1 });
  expect((await scrape(scheduler)).get('yardmaster_queue_spaces_left_out')).toBe(3);
  for (const space of ['d', 'e', 'f']) await pollJobs(store, space, { count: 1, names: [] });
  await untilDepthsAre({ a: 1, b: 1, c: 1 });
  await pollJobs(store, 'b', { count: 1, names: [] });
  await untilDepthsAre({ a: 1, c: 1, f: 0 });
});

it('shows no space when there are to be none', async () => {
  const none = await startService(
    { METRICS_SPACES: '0', KEY_PREFIX: scheduler.prefix },
    { redisUrl: redis.url, app: createScheduler, check: false },
  );
  await create('unseen');
  const shown = await scrape(none);
  expect(byLabel(shown, 'yardmaster_queue_depth')).toEqual({});
  expect(shown.get('yardmaster_queue_spaces_left_out')).toBe(1);
  await none.stop();
});

it('bounds the series, whatever spaces are called and however many there are', async () => {
  await Promise.all(Array.from({ length: 200 }, (_, n) => create(`..:-_${n}:${'x'.repeat(100)}`)));
  await until(async () => Object.keys(await depths()).length === 3);
  expect((await scrape(scheduler)).get('yardmaster_queue_spaces_left_out')).toBe(197);
});

it('shares readings between all who scrape at once', async () => {
  await create('shared');
  const readings = async () => {
    const calls = /^cmdstat_zrevrange:calls=(\d+)/m.exec(await scheduler.redis.info('commandstats'))?.[1];
    return Number(calls ?? 0) / PARTITION_TAGS.length;
  };
  await scheduler.redis.config('RESETSTAT');
  // At first they may be given what was read before the job was there.
  await until(async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => scheduler.http.call('GET', '/metrics')));
    const shown = answers.map(({ text }) => readText(text).get('yardmaster_queue_depth{space="shared"}'));
    return shown.every((depth) => depth === 1);
  });
  // One for each second, however long a busy machine takes over this; shared-read.test.ts has the exact rule.
  expect(await readings()).toBeLessThan(10);
});

it.each(['stopped', 'hanging'])('is answered without these while Redis is %s', async (state) => {
  await create('away');
  await untilDepthsAre({ away: 1 });
  if (state === 'stopped') await redis.halt();
  else process.kill(redis.pid(), 'SIGSTOP');
  try {
    const REDIS_GAUGES = /^yardmaster_(queue|callbacks_(owed|late))/;
    let shown = await scrape(scheduler);
    await until(async () => {
      shown = await scrape(scheduler);
      return shown.get('yardmaster_backlog_up') === 0;
    });
    expect([...shown.keys()].filter((name) => REDIS_GAUGES.test(name))).toEqual([]);
    expect(shown.get('yardmaster_build_info{version="0.1.0"}')).toBe(1);
  } finally {
    if (state === 'stopped') await redis.resume();
    else process.kill(redis.pid(), 'SIGCONT');
  }
  await untilDepthsAre({ away: 1 });
  expect((await scrape(scheduler)).get('yardmaster_backlog_up')).toBe(1);
});
