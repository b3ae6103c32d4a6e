import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createScheduler } from '@yardmaster/scheduler';
import { ANY_SPACE, completeJob, getJob, type Store } from '@yardmaster/store';
import { answer } from '../support/behaviours.js';
import { keysOf } from '../support/fsck.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startReceiver } from '../support/receiver.js';
import { runMany } from '../support/schedulers.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

/** How long ago something was, as this process sees it; Redis' clock and all timers go on as ever. */
const now = performance.now.bind(performance);
let frozenAt: number | null = null;
let skippedMs = 0;
/** Let so much more time have passed. */
const skip = (ms: number) => {
  skippedMs += ms;
};

let redis: OwnRedis;
let scheduler: TestService;
let store: Store;
beforeAll(async () => {
  jest.spyOn(performance, 'now').mockImplementation(() => (frozenAt ?? now()) + skippedMs);
  redis = await startRedis();
  const env = { CALLBACK_ALLOW_PRIVATE: 'true', CALLBACK_RETRY_DELAYS: '0.2' };
  scheduler = await startService(env, { redisUrl: redis.url, app: createScheduler });
  store = scheduler.store;
});
afterAll(async () => {
  await scheduler.stop();
  await redis.stop();
  jest.restoreAllMocks();
});

const probe = async (path: string) => {
  const { status, body } = await scheduler.http.call('GET', path);
  return [status, body.status];
};
const typesOf = async (id: string) => (await getJob(store, ANY_SPACE, id)).events.map(({ type }) => type);

describe('the probes', () => {
  it('say that it is live and ready while it sweeps', async () => {
    expect(await probe('/livez')).toEqual([200, 'ok']);
    expect(await probe('/readyz')).toEqual([200, 'ok']);
    skip(60_000);
    await until(async () => (await probe('/livez'))[0] === 200);
  });

  it('say that it is not ready while Redis hangs', async () => {
    process.kill(redis.pid(), 'SIGSTOP');
    try {
      expect(await probe('/readyz')).toEqual([503, 'not ready']);
    } finally {
      process.kill(redis.pid(), 'SIGCONT');
    }
    await until(async () => (await probe('/readyz'))[0] === 200);
  });

  it('say that it is not ready while Redis is away, and not live once it has not swept for 30 s', async () => {
    await redis.halt();
    await until(async () => (await probe('/readyz'))[0] === 503);
    expect(await probe('/readyz')).toEqual([503, 'not ready']);
    skip(20_000);
    expect(await probe('/livez')).toEqual([200, 'ok']);
    skip(10_000);
    expect(await probe('/livez')).toEqual([503, 'not live']);

    await redis.resume();
    await until(async () => (await probe('/livez'))[0] === 200);
    expect(await probe('/readyz')).toEqual([200, 'ok']);
  });
});

/** Wait for a time-out that is due now. */
async function isMet(space: string): Promise<void> {
  const [id] = (await runMany(store, space, 1, { timeoutSeconds: 0.01 })) as [string];
  await until(async () => (await typesOf(id)).includes('retried'));
}

// With time standing still, no sweep is ever overdue, and its watchdog does nothing.
describe('without its watchdog, a scheduler', () => {
  const freeze = () => {
    frozenAt = now();
  };
  beforeAll(freeze);
  afterAll(() => {
    frozenAt = null;
  });

  it('sweeps at the ticks of BullMQ', async () => {
    for (const space of ['one', 'two', 'three']) await isMet(space);
  });

  it('sends a callback at the news of it, and again at its alarm, without a sweep', async () => {
    const receiver = await startReceiver();
    const callbackUrl = receiver.script('/news', answer(503), answer(204));
    const [id] = (await runMany(store, 'news', 1, { callbackUrl })) as [string];
    const ticks = await keysOf(scheduler.redis, `${store.keys.bull}:sweeps`);
    await scheduler.redis.del(ticks);
    const [unmet] = (await runMany(store, 'unmet', 1, { timeoutSeconds: 0.01 })) as [string];
    await completeJob(store, ANY_SPACE, id, null);
    await until(async () => (await typesOf(id)).filter((type) => type === 'callback_sent').length === 2);
    expect(await typesOf(unmet)).toEqual(['created', 'delivered', 'acked']);
    await receiver.close();
  });

  it('does nothing more once the ticks have stopped, until its watchdog mends them', async () => {
    const [due] = (await runMany(store, 'due', 1, { timeoutSeconds: 0.01 })) as [string];
    frozenAt = null;
    skip(4_000);
    await until(async () => (await typesOf(due)).includes('retried'));
    freeze();
    for (const space of ['four', 'five', 'six']) await isMet(space);
  });
});
