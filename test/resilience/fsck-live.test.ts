import { expect, it } from '@jest/globals';
import { check } from '../fsck/checking.js';
import { respondWith } from '../support/behaviours.js';
import { withReceiver } from '../support/receiver.js';
import { withService } from '../support/service.js';
import { runLoad } from './fsck-load.js';

const receiver = withReceiver();
const service = withService({
  DELIVERY_TIMEOUT_SECONDS: '0.2',
  RETENTION_SECONDS: '0.5',
  CALLBACK_ALLOW_PRIVATE: 'true',
  CALLBACK_RETRY_DELAYS: '0.2',
  EVENTS_PER_JOB: '10',
});

it.each([
  ['check', false],
  ['repair', true],
])(
  'fsck finds no faults while all kinds of calls change jobs concurrently, in mode %s',
  async (name, isRepairing) => {
    const callbackUrl = receiver.script(`/${name.replaceAll(' ', '-')}`, respondWith(503), respondWith(204));
    let loads = 0;
    let isEnough = false;
    const load = (async () => {
      for (; !isEnough; loads++) await runLoad(service, 1_200, callbackUrl);
    })().finally(() => {
      isEnough = true;
    });
    // The settings of the service: with another retention, fsck would correctly report missing deadlines.
    const store = {
      ...service.store,
      settings: { ...service.store.settings, retentionMs: 500, deliveryTimeoutMs: 200 },
    };
    let checks = 0;
    let jobs = 0;
    try {
      // How many checks fit beside a load depends on the machine.
      while (!isEnough && (loads === 0 || checks < 2 || jobs <= 500)) {
        const { faults, seen } = await check(store, isRepairing);
        expect(faults).toEqual([]);
        checks++;
        jobs += seen.jobs;
      }
    } finally {
      isEnough = true;
    }
    await load;
  },
  180_000,
);
