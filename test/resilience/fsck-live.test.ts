import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { check } from '../fsck/checking.js';
import { answer } from '../support/behaviours.js';
import { withReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { live } from './fsck-load.js';

let service: TestService;
const receiver = withReceiver();
beforeAll(async () => {
  service = await startService({
    DELIVERY_TIMEOUT_SECONDS: '0.2',
    RETENTION_SECONDS: '0.5',
    CALLBACK_ALLOW_PRIVATE: 'true',
    CALLBACK_RETRY_DELAYS: '0.2',
    EVENTS_PER_JOB: '10',
  });
});
afterAll(async () => {
  await service.stop();
});

it.each([
  ['looked at', false],
  ['under repair', true],
])(
  'finds nothing wrong while everything happens to jobs at once, when it is %s',
  async (name, isRepairing) => {
    const callbackUrl = receiver.script(`/${name.replaceAll(' ', '-')}`, answer(503), answer(204));
    let isOver = false;
    const load = live(service, 1_200, callbackUrl).finally(() => {
      isOver = true;
    });
    // As the service's own: with another retention it would rightly miss deadlines.
    const store = {
      ...service.store,
      settings: { ...service.store.settings, retentionMs: 500, deliveryTimeoutMs: 200 },
    };
    let checks = 0;
    let jobs = 0;
    while (!isOver || checks === 0) {
      const { faults, seen } = await check(store, isRepairing);
      expect(faults).toEqual([]);
      checks++;
      jobs += seen.jobs;
    }
    await load;
    expect(checks).toBeGreaterThan(1); // As many as the machine made of the time.
    expect(jobs).toBeGreaterThan(500);
  },
  180_000,
);
