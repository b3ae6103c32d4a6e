import { afterEach, describe, expect, it } from '@jest/globals';
import { ANY_SPACE, createStore, getJob, NO_OBSERVER } from '@yardmaster/store';
import { attemptCallback } from '../../apps/scheduler/src/callbacks/attempt.js';
import { createResolver } from '../../apps/scheduler/src/callbacks/dns-lookup.js';
import { createAgents } from '../../apps/scheduler/src/callbacks/ssrf-guard.js';
import { fsckUnprepared, storeUnderTest, withConnection } from '../store/store-under-test.js';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, historyOf, sent } from '../support/callbacks.js';
import { withReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const redis = withConnection();
const receiver = withReceiver();
const tested = storeUnderTest(redis);
afterEach(async () => expect(await fsckUnprepared(tested.store)).toEqual([]));

describe('an attempt at a callback', () => {
  const options = {
    store: tested.store,
    agents: createAgents({ resolve: createResolver(undefined), allowPrivate: true }),
    masterSecrets: () => [],
    delays: [3_600],
    metrics: { began() {}, ended() {} },
  };

  it('an attempt waits while another attempt at the same callback is in progress', async () => {
    let finish = () => {};
    const callbackUrl = receiver.script('/twice', (response) => {
      finish = () => response.end();
    });
    const callback = { jobId: await tested.completeWithCallback({ callbackUrl }), series: 0 };
    const first = attemptCallback(callback, options);
    await until(() => receiver.requestsTo('/twice').length > 0);
    const second = await attemptCallback(callback, options);
    expect(second).toEqual({ againMs: expect.any(Number), outcome: null });
    expect(second.againMs).toBeGreaterThan(0);
    finish();
    expect(await first).toMatchObject({ againMs: null, outcome: { type: 'callback_sent' } });
    expect(receiver.requestsTo('/twice')).toHaveLength(1);
  });

  it('an attempt at a callback records its outcome once Redis accepts writes again', async () => {
    const hasty = redis.duplicate(); // Its commands time out soon.
    const callbackUrl = receiver.script('/recorded', async (response) => {
      hasty.options.commandTimeout = 200; // Set only here, because on a busy machine the attempt would not begin.
      await redis.call('CLIENT', 'PAUSE', 60_000, 'WRITE');
      response.end();
    });
    const jobId = await tested.completeWithCallback({ callbackUrl });
    let failures = 0;
    const observer = { ...NO_OBSERVER, failed: () => failures++ };
    const store = createStore(hasty, { keyPrefix: tested.prefix }, { observer });
    try {
      const attempted = attemptCallback({ jobId, series: 0 }, { ...options, store });
      await until(() => failures > 0);
      await redis.call('CLIENT', 'UNPAUSE');
      expect(await attempted).toMatchObject({ againMs: null, outcome: { type: 'callback_sent' } });
    } finally {
      await redis.call('CLIENT', 'UNPAUSE');
      hasty.disconnect();
    }
    expect(receiver.requestsTo('/recorded')).toHaveLength(1);
    expect(attemptsOf(await getJob(tested.store, ANY_SPACE, jobId))).toEqual(historyOf(callbackUrl, [sent(200)]));
  });

  it('an attempt at a callback leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const callbackUrl = receiver.script('/timers', respondWith(204));
    const ids = await Promise.all(Array.from({ length: 20 }, () => tested.completeWithCallback({ callbackUrl })));
    const before = timers();
    await Promise.all(ids.map((jobId) => attemptCallback({ jobId, series: 0 }, options)));
    expect(timers()).toBeLessThan(before + 20);
  });
});
