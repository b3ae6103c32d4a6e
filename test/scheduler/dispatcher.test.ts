import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { compose, type Service } from '@yardmaster/runtime';
import type { ServerContext } from '@yardmaster/server';
import { newJobId, type PendingCallback } from '@yardmaster/store';
import { pino } from 'pino';
import { type BullMq, createBullMq } from '../../apps/scheduler/src/bullmq.js';
import {
  CallbackDispatcher,
  type DispatcherOptions,
  type HostCallback,
} from '../../apps/scheduler/src/callbacks/dispatcher.js';
import { createRelay } from '../../apps/scheduler/src/callbacks/relay.js';
import { fsckUnprepared, storeUnderTest, withConnection } from '../store/store-under-test.js';
import { sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';

const log = pino({ level: 'silent' });
const STOP_MS = 60_000;

const callbackTo = (host: string): HostCallback => ({ jobId: newJobId('dispatched'), series: 0, host });

/** Create a dispatcher with one slot for each host, whose attempts end when the test lets them. */
function createDispatcher() {
  const begun: { callback: PendingCallback; end: () => void }[] = [];
  const postponed: [callback: HostCallback, delayMs: number][] = [];
  const queue = {
    add: async (_: string, callback: HostCallback, { delay }: { delay: number }) =>
      void postponed.push([callback, delay]),
  };
  const bullMq = { queue: () => queue, worker: () => undefined } as unknown as BullMq;
  const dispatcher = new CallbackDispatcher({
    bullMq,
    log,
    attempt: (callback) =>
      new Promise((resolve) => begun.push({ callback, end: () => resolve({ againMs: null, outcome: null }) })),
    perHost: 1,
  });
  /** Stop the dispatcher, and return all callbacks that it had accepted. */
  async function accepted() {
    const stopped = dispatcher.stop(STOP_MS);
    for (const { end } of begun) end();
    await stopped;
    return [...begun.map(({ callback }) => callback), ...postponed.map(([callback]) => callback)];
  }
  return { dispatcher, begun, postponed, accepted };
}

it('the dispatcher accepts at most 5,000 callbacks for one host, which leaves room for other hosts', async () => {
  const { dispatcher, accepted } = createDispatcher();
  const toOne = Array.from({ length: 5_001 }, () => callbackTo('one.example'));
  for (const callback of toOne) dispatcher.dispatch(callback);
  expect(dispatcher.isFull()).toBe(false);
  const other = callbackTo('other.example');
  dispatcher.dispatch(other);
  await setImmediate();
  const all = await accepted();
  expect(all).toHaveLength(5_001);
  expect(all).toContain(other);
  expect(all).not.toContain(toOne.at(-1));
});

it('the dispatcher sends a callback once if it is dispatched twice', async () => {
  const { dispatcher, accepted } = createDispatcher();
  const callback = callbackTo('one.example');
  for (let n = 0; n < 2; n++) dispatcher.dispatch({ ...callback });
  await setImmediate();
  expect(await accepted()).toEqual([callback]);
});

it('a dispatcher that stops finishes callbacks in flight and postpones the others', async () => {
  const { dispatcher, begun, postponed } = createDispatcher();
  const [sending, waiting] = [callbackTo('one.example'), callbackTo('one.example')];
  dispatcher.dispatch(sending);
  dispatcher.dispatch(waiting);
  await until(() => begun.length === 1);

  let isStopped = false;
  const stopped = dispatcher.stop(STOP_MS).then(() => {
    isStopped = true;
  });
  expect(dispatcher.isFull()).toBe(true);
  dispatcher.dispatch(callbackTo('other.example'));
  await setImmediate();
  expect({ isStopped, postponed }).toEqual({ isStopped: false, postponed: [] });

  begun[0]?.end();
  await stopped;
  expect(begun).toHaveLength(1);
  expect(postponed).toEqual([[waiting, 0]]);
});

describe('retries in BullMQ', () => {
  const redis = withConnection();
  const tested = storeUnderTest(redis);

  let service: Service;
  let end = () => {};
  afterEach(async () => {
    end();
    await service.stop(STOP_MS);
  });

  /** Start a dispatcher with one slot for each host, on BullMQ itself. */
  async function startWith(attempt: DispatcherOptions['attempt']) {
    const context = { store: tested.store, metrics: { connected: () => undefined } } as unknown as ServerContext;
    const bullMq = createBullMq(sharedService().redisUrl, context, log);
    const dispatcher = new CallbackDispatcher({ bullMq, log, attempt, perHost: 1 });
    service = compose('callbacks', [[bullMq], [dispatcher]]);
    await service.start();
    const queue = bullMq.queue<HostCallback>('callbacks');
    return { dispatcher, queue, jobOf: ({ jobId }: HostCallback) => queue.getJob(`${jobId}-0`) };
  }

  it('a failed retry reschedules its BullMQ job, and the last retry removes it', async () => {
    const callback = callbackTo('one.example');
    const attemptsOfJob: unknown[] = [];
    const { dispatcher, jobOf } = await startWith(async () => {
      attemptsOfJob.push((await jobOf(callback))?.attemptsStarted);
      return { againMs: attemptsOfJob.length < 4 ? 1 : null, outcome: null };
    });
    dispatcher.dispatch(callback);
    await until(async () => attemptsOfJob.length === 4 && (await jobOf(callback)) === undefined);
    expect(attemptsOfJob).toEqual([undefined, 1, 2, 3]);
  });

  it('a retry whose host has no free slot leaves BullMQ, and is made once a slot is free', async () => {
    const [hanging, retried] = [callbackTo('one.example'), callbackTo('one.example')];
    const begun: string[] = [];
    const { dispatcher, queue, jobOf } = await startWith(async ({ jobId }) => {
      begun.push(jobId);
      if (jobId === hanging.jobId) await new Promise<void>((resolve) => (end = resolve));
      return { againMs: null, outcome: null };
    });
    dispatcher.dispatch(hanging);
    await until(() => begun.length === 1);
    const { id } = await queue.add('callbacks', retried, { jobId: `${retried.jobId}-0` });
    await until(async () => (await jobOf(retried)) === undefined);
    expect({ id, begun }).toEqual({ id: `${retried.jobId}-0`, begun: [hanging.jobId] });
    end();
    await until(() => begun.includes(retried.jobId));
  });
});

describe('the relay of one scheduler', () => {
  const redis = withConnection();
  const tested = storeUnderTest(redis);
  const silent = { add: () => undefined, remove: () => undefined, isSubscribed: () => true };
  const relayTo = (dispatcher: CallbackDispatcher) =>
    createRelay({ store: tested.store, subscriptions: silent, dispatcher, log });

  it('the relay forwards every due callback of a partition with the host of its URL', async () => {
    const { dispatcher, accepted } = createDispatcher();
    const callbackUrl = 'https://Hooks.example:8443/done';
    const ids = await Promise.all(Array.from({ length: 150 }, () => tested.completeWithCallback({ callbackUrl }))); // 100 per step.
    await relayTo(dispatcher).runOnce(ids[0]?.slice(0, 2) as string);
    await setImmediate();
    const found = await accepted();
    expect(found.map(({ jobId }) => jobId).sort()).toEqual(ids.sort());
    for (const callback of found) expect(callback).toMatchObject({ series: 0, host: 'hooks.example:8443' });
    expect(await fsckUnprepared(tested.store)).toEqual([]);
  });

  it('the relay leaves callbacks due in Redis when its dispatcher is full', async () => {
    const { dispatcher } = createDispatcher();
    const id = await tested.completeWithCallback();
    const due = () => redis.zscore(tested.store.keys.callbacks(id.slice(0, 2)), id);
    const before = await due();
    expect(before).not.toBeNull();
    await dispatcher.stop(STOP_MS);
    await relayTo(dispatcher).runOnce(id.slice(0, 2));
    expect(await due()).toBe(before);
  });
});
