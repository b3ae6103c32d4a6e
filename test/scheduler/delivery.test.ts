import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ANY_SPACE, createStore, type Debt, getJob, NOBODY, newJobId } from '@yardmaster/store';
import { pino } from 'pino';
import { createAgents } from '../../apps/scheduler/src/callbacks/agents.js';
import { deliver } from '../../apps/scheduler/src/callbacks/deliver.js';
import { Desk } from '../../apps/scheduler/src/callbacks/desk.js';
import { createResolve } from '../../apps/scheduler/src/callbacks/lookup.js';
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

  it('waits while another attempt at the same callback is being made', async () => {
    let finish = () => {};
    const callbackUrl = receiver.script('/twice', (response) => {
      finish = () => response.end();
    });
    const debt = { jobId: await tested.owe({ callbackUrl }), round: 0 };
    const first = deliver(debt, delivery);
    await until(() => receiver.requestsTo('/twice').length > 0);
    const second = await deliver(debt, delivery);
    expect(second).toEqual({ againMs: expect.any(Number), outcome: null });
    expect(second.againMs).toBeGreaterThan(0);
    finish();
    expect(await first).toMatchObject({ againMs: null, outcome: { type: 'callback_sent' } });
    expect(receiver.requestsTo('/twice')).toHaveLength(1);
  });

  it('records its outcome once Redis takes writes again', async () => {
    const impatient = redis.duplicate();
    const callbackUrl = receiver.script('/recorded', async (response) => {
      impatient.options.commandTimeout = 200; // Not before: on a busy machine the attempt would not begin.
      await redis.call('CLIENT', 'PAUSE', 60_000, 'WRITE');
      response.end();
    });
    const jobId = await tested.owe({ callbackUrl });
    let failures = 0;
    const observer = { ...NOBODY, failed: () => failures++ };
    const store = createStore(impatient, { keyPrefix: tested.prefix }, { observer });
    try {
      const delivered = deliver({ jobId, round: 0 }, { ...delivery, store });
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

  it('leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const callbackUrl = receiver.script('/timers', answer(204));
    const ids = await Promise.all(Array.from({ length: 20 }, () => tested.owe({ callbackUrl })));
    const before = timers();
    await Promise.all(ids.map((jobId) => deliver({ jobId, round: 0 }, delivery)));
    expect(timers()).toBeLessThan(before + 20);
  });
});

describe('the callbacks that one scheduler holds', () => {
  const debtNo = (round: number): Debt => ({ jobId: newJobId('held'), round });

  /** A desk whose attempts end when the test lets them. */
  function open() {
    const begun: (() => void)[] = [];
    const handedBack: [debts: readonly Debt[], delayMs: number][] = [];
    const desk = new Desk({
      store: tested.store,
      log: pino({ level: 'silent' }),
      deliver: () => new Promise((resolve) => begun.push(() => resolve({ againMs: null, outcome: null }))),
      comeBack: async (...back) => void handedBack.push(back),
      perHost: 1,
    });
    return { desk, begun, handedBack };
  }

  it('are at most 5 000 for one host, and others find room beside them', () => {
    const { desk } = open();
    for (let n = 0; n < 5_000; n++) {
      expect(desk.hasRoom('one.example')).toBe(true);
      desk.take(debtNo(n), 'one.example');
    }
    expect(desk.hasRoom('one.example')).toBe(false);
    expect(desk.hasRoom('other.example')).toBe(true);
  });

  it('are handed back when it stops, except for those being sent, which it finishes', async () => {
    const { desk, begun, handedBack } = open();
    const [sending, waiting] = [debtNo(0), debtNo(0)];
    desk.take(sending, 'one.example');
    desk.take(waiting, 'one.example');
    await until(() => begun.length === 1);

    let isClosed = false;
    const closed = desk.close().then(() => {
      isClosed = true;
    });
    expect(desk.hasRoom('other.example')).toBe(false);
    await setImmediate();
    expect({ isClosed, handedBack }).toEqual({ isClosed: false, handedBack: [] });

    begun[0]?.();
    await closed;
    expect(begun).toHaveLength(1);
    expect(handedBack).toEqual([[[waiting], 0]]);
  });
});
