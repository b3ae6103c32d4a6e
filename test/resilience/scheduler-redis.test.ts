import { afterEach, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { ANY_SPACE, createJob, getJob, partitionOf, pollJobs } from '@yardmaster/store';
import { scrape } from '../metrics/scrape.js';
import { respondWith } from '../support/behaviours.js';
import { jobIn, step } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withReceiver } from '../support/receiver.js';
import { withProxiedNode } from '../support/redis/proxied-node.js';
import { makeDue } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

// A Redis that is full, one that is slow to reach, and one that accepts connections but never replies.

const redis = withRedis();
const service = withService(
  { DELIVERY_TIMEOUT_SECONDS: '1', CALLBACK_RETRY_DELAYS: '0.2,3600' },
  { redis, hasDefaultTimeouts: true },
);
const receiver = withReceiver();

it('a scheduler expires every deadline and sends every callback while Redis is out of memory', async () => {
  const typesOf = async (id: string) =>
    ((await service.call('GET', `/jobs/${id}`)).body.events as { type: string }[]).map(({ type }) => type);
  const callbackUrl = receiver.script('/', respondWith(503), respondWith(200));
  const silent = await jobIn(service, 'running', 'full', { timeoutSeconds: 1 });
  const doomed = await jobIn(service, 'running', 'full', { timeoutSeconds: 1, maxRetries: 0, callbackUrl });
  const delivered = await jobIn(service, 'delivered', 'full', { name: 'other' });
  // Its retention has ended while its callback is pending, so it comes first in a sweep, and cannot be purged.
  const kept = await jobIn(service, 'completed', 'full', { callbackUrl: receiver.script('/kept', respondWith(503)) });
  await until(async () => (await typesOf(kept)).includes('callback_sent'));
  await service.redis.zadd(service.store.keys.callbacks(kept.slice(0, 2)), 'XX', '+inf', kept);
  await service.redis.zadd(service.store.keys.deadlines(kept.slice(0, 2)), 'XX', 1, kept);
  const [snoozed, failed, moved] = await Promise.all(
    [1, 2, 3].map(() => jobIn(service, 'running', 'full', { name: 'later' })),
  );
  const waiting = await jobIn(service, 'scheduled', 'full', { name: 'later' });
  const late = await jobIn(service, 'pending', 'full', { name: 'later', startWithinSeconds: 3 });
  await service.redis.config('SET', 'maxmemory', '1mb');
  await step(service, snoozed as string, 'release', { delaySeconds: 0.5 });
  await step(service, failed as string, 'fail', { error: 'no', retryAfterSeconds: 0.5 });
  await step(service, moved as string, 'release');
  await step(service, moved as string, 'reschedule', { delaySeconds: 0.5, priority: 5 });
  await step(service, waiting, 'reschedule', { delaySeconds: 0 });

  const sweeps = async () => (await scrape(service)).get('yardmaster_sweeps_total') ?? 0;
  const before = await sweeps();
  await until(async () => (await sweeps()) >= before + 4);
  // BullMQ cannot write its next tick, so these sweeps came from the scheduler's own timer.
  const nextTick = await service.redis.zscore(`${service.store.keys.bull}:ticks:repeat`, 'sweep');
  expect(Number(nextTick ?? 0)).toBeLessThan(Date.now());
  for (const id of [snoozed, failed, moved] as string[]) await until(async () => (await typesOf(id)).includes('ready'));
  await until(async () => (await typesOf(late)).includes('dead'));
  expect(await typesOf(waiting)).toEqual(['created', 'rescheduled']);
  await until(async () => (await typesOf(silent)).includes('retried'));
  await until(async () => (await typesOf(delivered)).includes('delivery_timeout'));
  await until(async () => (await typesOf(doomed)).length === 6, 60_000);
  expect(receiver.requestsTo('/')).toHaveLength(2);
  expect(await typesOf(doomed)).toEqual(['created', 'delivered', 'acked', 'dead', 'callback_sent', 'callback_sent']);
  await service.redis.config('SET', 'maxmemory', '0');
  expect((await service.call('GET', `/jobs/${kept}`)).status).toBe(200);
});

const ROUND_TRIP_MS = 300;
const PARTITIONS = 20;

const { proxy, redis: farRedis } = withProxiedNode();
afterEach(() => proxy.set('pass'));
const far = withService({}, { app: 'scheduler', redis: farRedis });

it('a scheduler sweeps several partitions concurrently, so that round trips to a distant Redis do not add up', async () => {
  const spaces = new Map<string, string>();
  for (let n = 0; spaces.size < PARTITIONS; n++) spaces.set(partitionOf(`far-${n}`), `far-${n}`);
  const ids: string[] = [];
  for (const space of spaces.values()) {
    await createJob(far.store, space, createJobRequest.parse({ name: 'work' }));
    for (const { id } of (await pollJobs(far.store, space, { count: 1, names: [] })).jobs) ids.push(id);
  }
  proxy.set({ delayMs: ROUND_TRIP_MS / 2 });
  await makeDue(far, ...ids);
  const timeout = async (id: string) =>
    (await getJob(far.store, ANY_SPACE, id)).events.find(({ type }) => type === 'delivery_timeout');
  await until(async () => (await Promise.all(ids.map(timeout))).every(Boolean));
  const times = (await Promise.all(ids.map(timeout))).map((event) => Date.parse(event?.createdAt as string));
  // Sequential sweeps would be at least one round trip apart, on any machine.
  times.sort((a, b) => a - b);
  const together = times.filter((at, n) => n > 0 && at - (times[n - 1] as number) < ROUND_TRIP_MS);
  expect(together.length).toBeGreaterThanOrEqual(PARTITIONS / 2);
});

const QUEUES = ['ticks', 'callbacks'];
const blocks = ([command, key]: string[], queue: string) => command === 'bzpopmin' && !!key?.includes(`:${queue}:`);
const haveBlocked = (queues: string[]) =>
  Promise.all(queues.map((each) => proxy.intercept((words) => blocks(words, each), { action: 'observe' }).happened));

it.each(QUEUES)('a scheduler replaces the blocking connection of its %s worker until Redis replies', async (queue) => {
  const isGreeting = ([command]: string[]) => command === 'info';
  await haveBlocked(QUEUES); // Wait until all connections are established.
  proxy.intercept((words) => blocks(words, queue), { action: 'lose request', end: 'cut' });
  // BullMQ waits for the new connection and never replaces it, so the second one proves that the scheduler does.
  for (let n = 0; n < 2; n++) await proxy.intercept(isGreeting, { action: 'lose request', end: 'silence' }).happened;
  await haveBlocked([queue]);
  await until(() => proxy.lost === 0);
});
