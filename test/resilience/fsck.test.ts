import { afterEach, describe, expect, it } from '@jest/globals';
import { endAll, yardmaster } from '../cli/yardmaster.js';
import { check } from '../fsck/checking.js';
import { respondWith } from '../support/behaviours.js';
import { during } from '../support/during.js';
import { jobIn } from '../support/jobs.js';
import { withReceiver } from '../support/receiver.js';
import { type RedisCluster, startCluster } from '../support/redis/cluster.js';
import { type Sentinels, startSentinels } from '../support/redis/sentinels.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
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
      // The number of checks during a load depends on the machine.
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

/** Spaces in most of the 64 partitions, and so on every node of a cluster. */
const SPACES = Array.from({ length: 60 }, (_, n) => `space-${n}`);

describe.each([
  ['Sentinel', startSentinels],
  ['a cluster', startCluster],
] as [string, () => Promise<Sentinels | RedisCluster>][])('fsck on %s', (_, start) => {
  const redis = during(start, ({ stop }) => stop());
  const service = withService({}, { redis, app: 'api' });
  afterEach(endAll);

  const fsck = async (...args: string[]) => {
    const run = yardmaster(['fsck', '--json', ...args], { REDIS_URL: redis.url, KEY_PREFIX: service.prefix });
    const code = await run.exit();
    const lines = run.out().split('\n').slice(0, -1);
    return { code, err: run.err(), summary: JSON.parse(lines.at(-1) ?? '{}') };
  };

  it('fsck finds and repairs every fault on every node', async () => {
    for (const space of SPACES) {
      const id = await jobIn(service, 'pending', space);
      await service.redis.zrem(service.store.keys.queue(space), id);
    }
    expect(await fsck()).toMatchObject({
      code: 1,
      err: '',
      summary: { left: 60, kinds: { entry_missing: 60 }, checked: { jobs: 60 } },
    });
    expect(await fsck('--repair')).toMatchObject({
      code: 0,
      summary: { repaired: 60, left: 0, checked: { spaces: 60 } },
    });
    expect(await fsck()).toMatchObject({ code: 0, summary: { left: 0, repaired: 0 } });
  });

  it('fsck fails when another server takes over during a check, because it may have missed keys', async () => {
    const serverOf = async () =>
      'primary' in redis
        ? redis.primary()
        : (redis.nodes.find(({ role }) => role === 'primary') as RedisCluster['nodes'][0]);
    const old = await serverOf();
    const damaged = await jobIn(service, 'pending', 'space-0');
    await service.redis.zrem(service.store.keys.queue('space-0'), damaged);
    let isKilled = false;
    // The primary is killed at the first step, and the next steps wait for its successor.
    const killed = check(service.store, false, async () => {
      if (!isKilled) {
        isKilled = true;
        await old.kill();
      }
    });
    await expect(killed).rejects.toThrow('keys moved to another server during the check');
    await old.resume();
    if ('isWhole' in redis) await until(redis.isWhole);
    await until(async () => (await fsck('--repair')).code === 0);
  }, 60_000);
});
