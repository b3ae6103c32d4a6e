import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ANY_SPACE, createStore, getJob, NO_OBSERVER, newJobId, type PendingCallback } from '@yardmaster/store';
import { pino } from 'pino';
import { createAgents } from '../../apps/scheduler/src/callbacks/agents.js';
import { attemptCallback } from '../../apps/scheduler/src/callbacks/attempt.js';
import { CallbackDispatcher } from '../../apps/scheduler/src/callbacks/dispatcher.js';
import { createResolve } from '../../apps/scheduler/src/callbacks/dns-lookup.js';
import { storeUnderTest, withConnection } from '../store/store-under-test.js';
import { answer } from '../support/behaviours.js';
import { attemptsOf, historyOf, sent } from '../support/callbacks.js';
import { fsck } from '../support/fsck.js';
import { withReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const redis = withConnection();
const receiver = withReceiver();
const tested = storeUnderTest(redis);
afterEach(async () => expect(await fsck(redis, tested.prefix)).toEqual([]));

describe('an attempt at a callback', () => {
  const delivery = {
    store: tested.store,
    agents: createAgents({ resolve: createResolve(undefined), allowPrivate: true }),
    masters: [],
    delays: [3_600],
    metrics: { began() {}, ended() {} },
  };

  it('an attempt waits while another attempt at the same callback is being made', async () => {
    let finish = () => {};
    const callbackUrl = receiver.script('/twice', (response) => {
      finish = () => response.end();
    });
    const callback = { jobId: await tested.owe({ callbackUrl }), series: 0 };
    const first = attemptCallback(callback, delivery);
    await until(() => receiver.requestsTo('/twice').length > 0);
    const second = await attemptCallback(callback, delivery);
    expect(second).toEqual({ againMs: expect.any(Number), outcome: null });
    expect(second.againMs).toBeGreaterThan(0);
    finish();
    expect(await first).toMatchObject({ againMs: null, outcome: { type: 'callback_sent' } });
    expect(receiver.requestsTo('/twice')).toHaveLength(1);
  });

  it('an attempt records its outcome once Redis takes writes again', async () => {
    const impatient = redis.duplicate();
    const callbackUrl = receiver.script('/recorded', async (response) => {
      impatient.options.commandTimeout = 200; // Set only here, because on a busy machine the attempt would not begin.
      await redis.call('CLIENT', 'PAUSE', 60_000, 'WRITE');
      response.end();
    });
    const jobId = await tested.owe({ callbackUrl });
    let failures = 0;
    const observer = { ...NO_OBSERVER, failed: () => failures++ };
    const store = createStore(impatient, { keyPrefix: tested.prefix }, { observer });
    try {
      const delivered = attemptCallback({ jobId, series: 0 }, { ...delivery, store });
      await until(() => failures > 0);
      await redis.call('CLIENT', 'UNPAUSE');
      expect(await delivered).toMatchObject({ againMs: null, outcome: { type: 'callback_sent' } });
    } finally {
      await redis.call('CLIENT', 'UNPAUSE');
      impatient.disconnect();
    }
    expect(receiver.requestsTo('/recorded')).toHaveLength(1);
    expect(attemptsOf(await getJob(tested.store, ANY_SPACE, jobId))).toEqual(historyOf(callbackUrl, [sent(200)]));
  });

  it('an attempt leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const callbackUrl = receiver.script('/timers', answer(204));
    const ids = await Promise.all(Array.from({ length: 20 }, () => tested.owe({ callbackUrl })));
    const before = timers();
    await Promise.all(ids.map((jobId) => attemptCallback({ jobId, series: 0 }, delivery)));
    expect(timers()).toBeLessThan(before + 20);
  });
});

describe('the dispatcher of one scheduler', () => {
  const callbackNo = (series: number): PendingCallback => ({ jobId: newJobId('held'), series });

  /** Create a dispatcher whose attempts end when the test lets them. */
  function open() {
    const begun: (() => void)[] = [];
    const handedBack: [debts: readonly PendingCallback[], delayMs: number][] = [];
    const dispatcher = new CallbackDispatcher({
      store: tested.store,
      log: pino({ level: 'silent' }),
      attempt: () => new Promise((resolve) => begun.push(() => resolve({ againMs: null, outcome: null }))),
      postpone: async (...back) => void handedBack.push(back),
      perHost: 1,
    });
    return { desk: dispatcher, begun, handedBack };
  }

  it('the dispatcher takes at most 5 000 callbacks for one host, and still has room for other hosts', () => {
    const { desk: dispatcher } = open();
    for (let n = 0; n < 5_000; n++) {
      expect(dispatcher.hasRoom('one.example')).toBe(true);
      dispatcher.dispatch(callbackNo(n), 'one.example');
    }
    expect(dispatcher.hasRoom('one.example')).toBe(false);
    expect(dispatcher.hasRoom('other.example')).toBe(true);
  });

  it('a dispatcher that stops finishes the callbacks being sent and postpones the others', async () => {
    const { desk: dispatcher, begun, handedBack } = open();
    const [sending, waiting] = [callbackNo(0), callbackNo(0)];
    dispatcher.dispatch(sending, 'one.example');
    dispatcher.dispatch(waiting, 'one.example');
    await until(() => begun.length === 1);

    let isClosed = false;
    const closed = dispatcher.close().then(() => {
      isClosed = true;
    });
    expect(dispatcher.hasRoom('other.example')).toBe(false);
    await setImmediate();
    expect({ isClosed, handedBack }).toEqual({ isClosed: false, handedBack: [] });

    begun[0]?.();
    await closed;
    expect(begun).toHaveLength(1);
    expect(handedBack).toEqual([[[waiting], 0]]);
  });
});
