import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createJobRequest } from '@yardmaster/protocol';
import { createLogger, type Logger } from '@yardmaster/runtime';
import {
  ANY_SPACE,
  ackJob,
  type ClockReading,
  claimJob,
  createJob,
  createStore,
  expireDue,
  getJob,
  markStep,
  partitionOf,
  redisNow,
  type Store,
  stepBetween,
} from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { createSweeper } from '../../apps/scheduler/src/deadlines/sweeper.js';
import { createMetrics } from '../../packages/server/src/metrics/registry.js';
import { fsckUnprepared } from '../store/store-under-test.js';
import { connectTo } from '../support/connect.js';
import { during } from '../support/during.js';
import { withRedis } from '../support/own-redis.js';
import { readSteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';

const HOUR_S = 3_600;
const SPACE = 'stepped';
const PARTITION = partitionOf(SPACE);
const DELIVERY_MS = 60_000;

const own = withRedis();
/** Redis key of the number of seconds by which the clock is off. */
const STEP = 'step';

const connections = during(
  async () => {
    const all = Array.from({ length: 3 }, () => connectTo(own.url)) as [Redis, Redis, Redis];
    for (const each of all) readSteppedClock(each, STEP);
    return { all };
  },
  async ({ all }) => {
    for (const each of all) each.disconnect();
  },
);

let prefix: string;
let store: Store;
let warnings: [fields: Record<string, number>, text: string][];

beforeEach(async () => {
  prefix = `t-${randomUUID().slice(0, 8)}`;
  warnings = [];
  store = storeOn(0);
  await stepTo(0);
});

const storeOn = (n: 0 | 1 | 2) =>
  createStore(connections.all[n], { keyPrefix: prefix, deliveryTimeoutMs: DELIVERY_MS });

/** Set how many seconds Redis' clock is off from now on. */
const stepTo = (seconds: number) => store.redis.set(STEP, seconds);

/**
 * Start the part of a scheduler that sweeps. A scheduler that has run for a while is sure of the clock; one that has
 * just started is not.
 */
function startScheduler(n: 0 | 1 | 2, { isNew = false } = {}) {
  const log = createLogger('test', 'silent') as Logger;
  log.warn = (fields: unknown, text?: string) => void warnings.push([fields as Record<string, number>, text ?? '']);
  const metrics = createMetrics();
  const context = { store: storeOn(n), stopping: new AbortController().signal, metrics };
  return { ...createSweeper(context, log, isNew ? undefined : 0), metrics };
}

async function bringTo(status: 'delivered' | 'running', fields = {}): Promise<string> {
  const { id } = (await createJob(store, SPACE, createJobRequest.parse({ name: 'work', ...fields }))).job;
  await claimJob(store, ANY_SPACE, id);
  if (status === 'running') await ackJob(store, ANY_SPACE, id);
  return id;
}

const statusOf = async (id: string) => (await getJob(store, ANY_SPACE, id)).status;
const dueIn = async (id: string) =>
  Number(await store.redis.zscore(store.keys.deadlines(PARTITION), id)) - (await redisNow(store));

/** Expect a window of this job that was opened less than a minute ago. */
async function expectWindow(id: string, windowMs: number): Promise<void> {
  const left = await dueIn(id);
  expect(left).toBeLessThanOrEqual(windowMs);
  expect(left).toBeGreaterThan(windowMs - 60_000);
}

const stepsOf = async ({ metrics }: ReturnType<typeof startScheduler>) =>
  [...(await metrics.registry.metrics()).matchAll(/clock_steps_total\{direction="(\w+)"\} ([1-9]\d*)/g)].map((found) =>
    found.slice(1).join(' '),
  );

it('a step forward ends no attempt: each job without a heartbeat since then gets one more window, and then times out', async () => {
  const scheduler = startScheduler(1);
  const running = await bringTo('running', { timeoutSeconds: 600 });
  const delivered = await bringTo('delivered');
  const short = await bringTo('running', { timeoutSeconds: 0.5 });
  await scheduler.runOnce();
  await stepTo(HOUR_S);
  await scheduler.runOnce();
  await expectWindow(running, 600_000);
  await expectWindow(delivered, DELIVERY_MS);
  expect([await statusOf(running), await statusOf(delivered)]).toEqual(['running', 'delivered']);
  await until(async () => {
    await scheduler.runOnce();
    return (await statusOf(short)) === 'pending';
  });
  const { events } = await getJob(store, ANY_SPACE, short);
  const [ackedAt, retriedAt] = events.slice(2).map(({ createdAt }) => Date.parse(createdAt));
  expect((retriedAt as number) - (ackedAt as number)).toBeGreaterThan(HOUR_S * 1_000 + 500);
  expect(warnings).toEqual([[expect.objectContaining({ broughtBack: 0 }), 'the clock of redis has stepped']]);
  expect(warnings[0]?.[0].steppedMs).toBeGreaterThan(HOUR_S * 1_000 - 60_000);
  expect(await stepsOf(scheduler)).toEqual(['forward 1']);
  expect(await fsckUnprepared(store)).toEqual([]);
});

it('a step forward changes nothing for a job with a heartbeat after it', async () => {
  const scheduler = startScheduler(1);
  await scheduler.runOnce();
  await stepTo(HOUR_S);
  await scheduler.runOnce();
  const id = await bringTo('running', { timeoutSeconds: 0.001 });
  await until(async () => {
    await scheduler.runOnce();
    return (await statusOf(id)) === 'pending';
  });
});

it('a step forward between a reading of the clock and the script that ends attempts ends no attempt', async () => {
  const id = await bringTo('running', { timeoutSeconds: 600 });
  const before = await redisNow(store);
  await stepTo(HOUR_S);
  expect(await expireDue(store, PARTITION, before)).toMatchObject({ timedOut: 0, reopened: 0 });
  expect(await statusOf(id)).toBe('running');
});

it('a scheduler that has just started ends no attempt after a step forward before its start', async () => {
  const [old, fresh] = [startScheduler(1), startScheduler(2, { isNew: true })];
  const id = await bringTo('running', { timeoutSeconds: 600 });
  await old.runOnce();
  await stepTo(HOUR_S);
  await fresh.runOnce(); // It cannot distinguish a step from a time in which no scheduler was running.
  expect(await statusOf(id)).toBe('running');
  await old.runOnce();
  const silent = await bringTo('running', { timeoutSeconds: 0.001 });
  await until(async () => {
    await fresh.runOnce();
    return (await statusOf(silent)) === 'pending';
  });
  expect(await statusOf(id)).toBe('running');
  await expectWindow(id, 600_000);
});

it('a step forward is marked once, by the first scheduler to notice it', async () => {
  const [first, second] = [startScheduler(1), startScheduler(2)];
  for (const each of [first, second]) await each.runOnce();
  await stepTo(HOUR_S);
  await first.runOnce();
  const marked = await store.redis.get(store.keys.stepped(PARTITION));
  expect(marked).not.toBeNull();
  await until(async () => (await redisNow(store)) > Number(marked));
  await second.runOnce();
  expect(await store.redis.get(store.keys.stepped(PARTITION))).toBe(marked);
  expect([await stepsOf(first), await stepsOf(second)]).toEqual([['forward 1'], ['forward 1']]);
});

it('a step forward is marked even if Redis is out of memory', async () => {
  await store.redis.config('SET', 'maxmemory', '1');
  try {
    await expect(store.redis.set('any', 'x')).rejects.toThrow('OOM');
    expect(await markStep(store, PARTITION, 0)).toBe(true);
  } finally {
    await store.redis.config('SET', 'maxmemory', '0');
  }
});

it('a jump of the clock while no scheduler is running is not a step, so due jobs time out', async () => {
  const id = await bringTo('running', { timeoutSeconds: 600 });
  await stepTo(HOUR_S);
  const scheduler = startScheduler(1);
  for (let n = 0; n < 2; n++) await scheduler.runOnce(); // The first sweep only reads the clock.
  expect(await statusOf(id)).toBe('pending');
  expect(warnings).toEqual([]);
});

it('a step back of the clock does not delay jobs by its length: each window starts once more', async () => {
  const scheduler = startScheduler(1);
  const running = await bringTo('running', { timeoutSeconds: 600 });
  const delivered = await bringTo('delivered');
  await scheduler.runOnce();
  await stepTo(-HOUR_S);
  await scheduler.runOnce();
  await expectWindow(running, 600_000);
  await expectWindow(delivered, DELIVERY_MS);
  const steppedMs = expect.any(Number);
  expect(warnings).toEqual([[{ steppedMs, broughtBack: 2 }, 'the clock of redis has stepped']]);
  expect(await stepsOf(scheduler)).toEqual(['back 1']);
  expect(await fsckUnprepared(store)).toEqual([]);
});

it('a step back is repaired by a scheduler that starts after it', async () => {
  const ids = await Promise.all(Array.from({ length: 250 }, () => bringTo('running', { timeoutSeconds: 600 })));
  await stepTo(-HOUR_S);
  await startScheduler(1).runOnce();
  for (const id of ids) await expectWindow(id, 600_000);
  expect(warnings).toEqual([[{ broughtBack: 250 }, expect.stringContaining('while no scheduler was watching it')]]);
});

it('a scheduler that starts shortens no window opened when DELIVERY_TIMEOUT_SECONDS was longer', async () => {
  store = createStore(store.redis, { keyPrefix: prefix, deliveryTimeoutMs: HOUR_S * 1_000 });
  const id = await bringTo('delivered');
  await startScheduler(1).runOnce();
  expect(await dueIn(id)).toBeGreaterThan(DELIVERY_MS);
});

it('a reading of the clock from before a step back ends nothing early', async () => {
  const before = await redisNow(store);
  await stepTo(-HOUR_S);
  const id = await bringTo('running', { timeoutSeconds: 600 });
  await expireDue(store, PARTITION, before);
  expect(await statusOf(id)).toBe('running');
});

it('a step back after a step forward does not postpone timeouts repeatedly', async () => {
  const scheduler = startScheduler(1);
  await scheduler.runOnce();
  await stepTo(HOUR_S);
  await scheduler.runOnce();
  await stepTo(0);
  await scheduler.runOnce();
  const id = await bringTo('running', { timeoutSeconds: 0.001 });
  await until(async () => {
    await scheduler.runOnce();
    return (await statusOf(id)) === 'pending';
  });
});

describe('a step between two readings of the clock', () => {
  const reading = (redisMs: number, sentAt: number, receivedAt = sentAt): ClockReading => ({
    redisMs,
    sentAt,
    receivedAt,
  });

  it.each<[string, ClockReading, ClockReading, number]>([
    ['is not reported if only time has passed', reading(0, 0), reading(60_000, 60_000), 0],
    ['is not reported for 2 s forward', reading(0, 0), reading(3_000, 1_000), 0],
    ['is not reported for 2 s back', reading(0, 0), reading(-1_000, 1_000), 0],
    ['is reported for more than 2 s forward', reading(0, 0), reading(3_001, 1_000), 2_001],
    ['is reported for more than 2 s back', reading(0, 0), reading(-1_001, 1_000), -2_001],
    ['is not reported when the second reply may have been slow', reading(0, 0), reading(5_000, 1_000, 5_000), 0],
    ['is not reported when the first reply may have been slow', reading(0, 0, 5_000), reading(1_000, 5_500), 0],
    ['is reported by its certain part if it goes forward', reading(0, 0, 300), reading(60_000, 1_000, 1_500), 58_500],
    ['is reported by its certain part if it goes back', reading(0, 0, 300), reading(-60_000, 1_000, 1_500), -60_700],
  ])('a step between two clock readings %s', (_, before, now, steppedMs) => {
    expect(stepBetween(before, now)).toBe(steppedMs);
  });
});
