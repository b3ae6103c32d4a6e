import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { keysOf } from '../support/fsck.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Fleet, startFleet } from '../support/schedulers.js';
import { until } from '../support/until.js';
import { expectDone, LOAD_ENV, makeLoad } from './load.js';

let redis: OwnRedis;
let receiver: Receiver;
/** One scheduler alone, and three at once, each with jobs of their own. */
let fleets: Fleet[];
beforeAll(async () => {
  redis = await startRedis({ appendfsync: 'always' });
  receiver = await startReceiver();
  fleets = await Promise.all(
    [1, 3].map((schedulers) => startFleet({ schedulers, env: LOAD_ENV, redisUrl: redis.url })),
  );
});
afterAll(async () => {
  await Promise.all(fleets.map((fleet) => fleet.stop()));
  await receiver.close();
  await redis.stop();
});

const isServing = async () => {
  const answers = await Promise.all(fleets.map(({ service }) => service.call('GET', '/spaces/x/jobs')));
  return answers.every(({ status }) => status === 200);
};

async function wipeBullmq(): Promise<void> {
  for (const { service } of fleets) {
    const keys = await keysOf(service.redis, service.store.keys.bull);
    expect(keys.length).toBeGreaterThan(5);
    await service.redis.del(keys);
  }
}

async function killRedis(forMs: number): Promise<void> {
  process.kill(redis.pid(), 'SIGKILL');
  await redis.halt();
  await delay(forMs);
  await redis.resume();
  await until(isServing);
}

async function pauseRedis(forMs: number): Promise<void> {
  process.kill(redis.pid(), 'SIGSTOP');
  await delay(forMs);
  process.kill(redis.pid(), 'SIGCONT');
  await until(isServing);
}

/** Goes on until it is stopped. */
function forgetScripts(): () => void {
  const flush = () => fleets[0]?.service.redis.script('FLUSH').catch(() => undefined);
  const timer = setInterval(flush, 100);
  return () => clearInterval(timer);
}

const FAULTS: [fault: string, lastsMs: number, inject: () => Promise<void>][] = [
  ['nothing happens', 0, async () => undefined],
  ['all of BullMQ is deleted', 0, wipeBullmq],
  ['Redis is killed for 1.5 s', 1_500, () => killRedis(1_500)],
  ['Redis is killed for 8 s', 8_000, () => killRedis(8_000)],
  ['Redis hangs for 5 s', 5_000, () => pauseRedis(5_000)],
];

const loadAll = (spreadMs: number) => Promise.all(fleets.map(({ service }) => makeLoad(service, receiver, spreadMs)));

it.each(FAULTS)(
  'everything is done once and in time when %s',
  async (_fault, lastsMs, inject) => {
    const loads = await loadAll(lastsMs + 3_000);
    await inject();
    const { service } = fleets[0] as Fleet;
    const healedMs = lastsMs > 0 ? await redisNow(service.store) : 0;
    for (const load of loads) await expectDone(load, healedMs);
  },
  90_000,
);

it('everything is done once and in time when Redis forgets its scripts again and again', async () => {
  const stop = forgetScripts();
  try {
    for (const load of await loadAll(3_000)) await expectDone(load, 0);
  } finally {
    stop();
  }
}, 90_000);
