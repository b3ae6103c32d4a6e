import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  completeJob,
  createJob,
  killJob,
  PARTITION_TAGS,
  pollJobs,
  redisNow,
} from '@yardmaster/store';
import { type Behaviour, hang, raw, reset, respondWith } from '../support/behaviours.js';
import { removeJobs } from '../support/fsck.js';
import { jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withReceiver } from '../support/receiver.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { VERSION } from '../support/version.js';
import { byLabel, expectMoved, readText, scrape } from './scrape.js';

const ATTEMPTS = 'yardmaster_callback_attempts_total';
const attempts = (outcome: string) => `${ATTEMPTS}{outcome="${outcome}"}`;
const OTHER_OUTCOMES = ['2xx', '3xx', '4xx', '5xx', 'refused', 'dns', 'network', 'tls', 'http', 'invalid'];

const receiver = withReceiver();
const service = withService({ CALLBACK_RETRY_DELAYS: '3600', METRICS_SPACES: '0' }, { isOwn: true });
const value = async (name: string) => (await scrape(service)).get(name) as number;

/** Id of a job whose callback takes 10 s, because it gets no response; other tests run in the meantime. */
let hanging: string;
beforeAll(async () => {
  hanging = await jobIn(service, 'completed', 'hangs', { callbackUrl: receiver.script('/hangs', hang) });
});

const typesOf = async (id: string): Promise<string[]> =>
  (await service.call('GET', `/jobs/${id}`)).body.events.map(({ type }: { type: string }) => type);
const untilAttempted = (id: string) =>
  until(async () => (await typesOf(id)).some((type) => type.startsWith('callback_')));

/** Complete a job with a callback to a URL, and return its id after the first attempt. */
async function attempt(callbackUrl: string): Promise<string> {
  const id = await jobIn(service, 'completed', 'called', { callbackUrl });
  await untilAttempted(id);
  return id;
}

/** Check how one attempt to a URL is counted; the attempt that hangs may be counted in the meantime. */
const expectCounted = (callbackUrl: string, outcome: string): Promise<void> =>
  expectMoved(service, OTHER_OUTCOMES.map(attempts), () => attempt(callbackUrl), { [attempts(outcome)]: 1 });

it('shows a callback as in flight while it is attempted', async () => {
  await until(async () => (await value('yardmaster_callbacks_in_flight')) === 1);
});

it.each<[string, Behaviour]>([
  ['2xx', respondWith(204)],
  ['3xx', respondWith(302, { location: '/' })],
  ['4xx', respondWith(404)],
  ['5xx', respondWith(500)],
  ['http', raw('HTTP/1.1 999 \r\n\r\n')],
  ['http', raw('nonsense\r\n\r\n')],
  ['network', reset],
])('counts a callback as %s by the response of its receiver', async (outcome, behaviour) => {
  await expectCounted(receiver.script(`/${outcome}`, behaviour), outcome);
});

it.each<[string, () => string]>([
  ['tls', () => receiver.script('/tls', respondWith(200)).replace('http:', 'https:')],
  ['dns', () => 'http://no-such-name.invalid/'],
])('counts a callback as %s when it reaches no receiver', async (outcome, url) => {
  await expectCounted(url(), outcome);
});

it('counts a callback as pending until its outcome is final, and as late only when it is overdue', async () => {
  const { redis, store } = service;
  const counts = await Promise.all(PARTITION_TAGS.map((tag) => redis.zcard(store.keys.callbacks(tag))));
  const before = counts.reduce((sum, count) => sum + count, 0);
  const pending = () => value('yardmaster_callbacks_owed');
  const id = await attempt(receiver.script('/later', respondWith(503)));
  await until(async () => (await pending()) === before + 1);
  expect(await value('yardmaster_callbacks_late_seconds')).toBe(0);
  // METRICS_SPACES is 0, so no space is shown.
  expect(byLabel(await scrape(service), 'yardmaster_queue_depth')).toEqual({});
  expect(await value('yardmaster_queue_spaces_left_out')).toBe(2);
  await redis.zrem(store.keys.callbacks(id.slice(0, 2)), id);
  await redis.hset(store.keys.job(id), 'callbackAttempts', '1');
  await redis.hdel(store.keys.job(id), 'callbackDueAt', 'callbackLeasedUntil');
  await until(async () => (await pending()) === before);
});

describe('a scheduler', () => {
  const redis = withRedis();
  const settings = { METRICS_SPACES: '3', CALLBACK_ALLOW_PRIVATE: 'false' };
  const scheduler = withService(settings, { redis, hasDefaultTimeouts: true, app: 'scheduler' });
  afterEach(() => removeJobs(scheduler.redis, scheduler.prefix));

  const create = (spaceId: string, fields = {}) =>
    createJob(scheduler.store, spaceId, createJobRequest.parse({ name: 'work', ...fields })).then(({ job }) => job);
  const poll = (spaceId: string) => pollJobs(scheduler.store, spaceId, { count: 1, names: [] });
  const value = async (name: string) => (await scrape(scheduler)).get(name) as number;

  /** Scrape until the queue depths are as expected; a scrape may show values that are a second old. */
  async function untilDepthsAre(expected: Record<string, number>): Promise<void> {
    let seen = {};
    await until(async () => {
      seen = byLabel(await scrape(scheduler), 'yardmaster_queue_depth');
      return JSON.stringify(Object.entries(seen).sort()) === JSON.stringify(Object.entries(expected).sort());
    }).catch(() => expect(seen).toEqual(expected));
  }

  it('shows the pending jobs of each space, and how long the next one has waited', async () => {
    const first = await create('busy');
    await create('busy');
    const gone = await create('idle');
    await killJob(scheduler.store, ANY_SPACE, gone.id, null);
    await untilDepthsAre({ busy: 2, idle: 0 });
    const shown = await scrape(scheduler);
    expect(shown.get('yardmaster_queue_pending_jobs')).toBe(2);
    expect(shown.get('yardmaster_queue_spaces_left_out')).toBe(0);
    const ages = async () => byLabel(await scrape(scheduler), 'yardmaster_queue_oldest_age_seconds');
    expect(Object.keys(await ages())).toEqual(['busy']);

    // Move the job back by an hour in its queue.
    await scheduler.redis.zincrby(scheduler.store.keys.queue('busy'), -3_600_000 * 1_024, first.id);
    await until(async () => ((await ages()).busy as number) > 3_600);
  });

  it('shows the scheduled jobs of each space apart from the depth of its queue', async () => {
    const request = createJobRequest.parse({ name: 'work', delaySeconds: 3_600 });
    for (let n = 0; n < 2; n++) await createJob(scheduler.store, 'future', request);
    await create('future');
    await untilDepthsAre({ future: 1 });
    const shown = await scrape(scheduler);
    expect(byLabel(shown, 'yardmaster_queue_scheduled_jobs')).toEqual({ future: 2 });
    expect(shown.get('yardmaster_queue_pending_jobs')).toBe(1);
  });

  it('shows the most recently used spaces, those with pending jobs first, and how many are omitted', async () => {
    for (const space of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const created = Date.parse((await create(space)).createdAt);
      // Spaces of one millisecond are in any order.
      await until(async () => (await redisNow(scheduler.store)) > created);
    }
    await untilDepthsAre({ d: 1, e: 1, f: 1 });
    expect(await value('yardmaster_queue_spaces_left_out')).toBe(3);
    for (const space of ['d', 'e', 'f']) await poll(space);
    await untilDepthsAre({ a: 1, b: 1, c: 1 });
    await poll('b');
    await untilDepthsAre({ a: 1, c: 1, f: 0 });
  });

  it('bounds the series and the reads from Redis, however many spaces, jobs and scrapes there are', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, n) => create(`..:-_${n}:${'x'.repeat(100)}`)));
    await until(async () => (await value('yardmaster_queue_spaces_left_out')) === 197);
    expect(Object.keys(byLabel(await scrape(scheduler), 'yardmaster_queue_depth'))).toHaveLength(3);

    await scheduler.redis.config('RESETSTAT');
    // A scrape may show values that are a second old, so the test continues until Redis was read.
    const SCRAPES = 20;
    const callsOf = async (command: string) => {
      const stats = await scheduler.redis.info('commandstats');
      return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
    };
    await until(async () => {
      const responses = await Promise.all(
        Array.from({ length: SCRAPES }, () => scheduler.http.call('GET', '/metrics')),
      );
      // A scrape that Redis was too slow for has no value.
      const leftOut = responses.map(({ text }) => readText(text).get('yardmaster_queue_spaces_left_out'));
      expect(new Set(leftOut.filter((value) => value !== undefined))).toEqual(new Set([197]));
      return (await callsOf('zrevrange')) > 0;
    });
    const reads = (await callsOf('zrevrange')) / PARTITION_TAGS.length;
    expect(reads).toBeLessThan(SCRAPES);
    // Two per partition, one for each of four times the shown spaces, and a few in sweeps; not one for each space.
    expect((await callsOf('zcard')) / reads).toBeLessThan(2 * PARTITION_TAGS.length + 100);
  });

  it('counts a callback to an address that is not public as refused', async () => {
    const complete = async () => {
      const { id } = await create('called', { callbackUrl: 'http://127.0.0.1:9/' });
      await poll('called');
      await ackJob(scheduler.store, ANY_SPACE, id);
      await completeJob(scheduler.store, ANY_SPACE, id, null);
    };
    await expectMoved(scheduler, ATTEMPTS, complete, { [attempts('refused')]: 1 });
  });

  /** Check that a scrape without Redis gets a response, without the gauges that are read from Redis. */
  async function expectNoBacklog(): Promise<void> {
    await until(async () => (await value('yardmaster_backlog_up')) === 0);
    const shown = await scrape(scheduler);
    const gauges = [...shown.keys()].filter((name) => /^yardmaster_(queue|callbacks_(owed|late))/.test(name));
    expect(gauges).toEqual([]);
    expect(shown.get(`yardmaster_build_info{version="${VERSION}"}`)).toBe(1);
  }

  it('responds to a scrape while Redis hangs, without the metrics that it reads from Redis', async () => {
    await create('away');
    await untilDepthsAre({ away: 1 });
    process.kill(redis.pid(), 'SIGSTOP');
    await expectNoBacklog().finally(() => process.kill(redis.pid(), 'SIGCONT'));
    await untilDepthsAre({ away: 1 });
    expect(await value('yardmaster_backlog_up')).toBe(1);
  });

  it('counts sweeps and failed sweeps while Redis is down, and shows the age of the last sweep', async () => {
    const before = await scrape(scheduler);
    const movedTo = (name: string, by: number) =>
      until(async () => (await value(name)) > Number(before.get(name)) + by);
    await movedTo('yardmaster_sweeps_total', 1);
    const failures = 'yardmaster_sweep_failures_total';
    expect(await value(failures)).toBe(before.get(failures));
    await until(async () => (await value('yardmaster_sweep_age_seconds')) < 3);

    await redis.halt();
    await movedTo('yardmaster_sweep_failures_total', 1);
    await movedTo('yardmaster_redis_errors_total{class="connection"}', 1);
    await until(async () => (await value('yardmaster_sweep_age_seconds')) > 3);
    await expectNoBacklog();
    const down = await scrape(scheduler);
    expect(byLabel(down, 'yardmaster_redis_connected')).toEqual({ commands: 0, bulk: 0, subscriber: 0, worker: 0 });
    expect(down.get('yardmaster_redis_errors_total{class="other"}')).toBe(0);

    await redis.resume();
    await until(async () => (await value('yardmaster_sweep_age_seconds')) < 3);
    const connected = async () => Object.values(byLabel(await scrape(scheduler), 'yardmaster_redis_connected'));
    await until(async () => (await connected()).every((is) => is === 1));
  });
});

it('counts a callback that takes more than 10 s as a timeout, and no longer shows it as in flight', async () => {
  await untilAttempted(hanging);
  await until(async () => (await value(attempts('timeout'))) === 1);
  expect(await value('yardmaster_callbacks_in_flight')).toBe(0);
});
