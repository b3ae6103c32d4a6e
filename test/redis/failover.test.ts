import { afterEach, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startCluster } from '../support/redis/cluster.js';
import { startSentinels } from '../support/redis/sentinels.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { type Load, startLoad } from './load.js';
import { type Watcher, watchJob } from './watchers.js';

interface Kind {
  url: string;
  /** Kill -9 a primary. */
  fail(): Promise<void>;
  stop(): Promise<void>;
}

async function sentinels(): Promise<Kind> {
  const redis = await startSentinels();
  return { url: redis.url, fail: async () => void (await redis.killPrimary()), stop: redis.stop };
}

async function cluster(): Promise<Kind> {
  const redis = await startCluster();
  async function fail(): Promise<void> {
    // On a busy machine another may have become the primary by now.
    const roles = await Promise.all(redis.nodes.map((node) => node.roleNow()));
    await redis.nodes[roles.indexOf('primary')]?.kill();
  }
  return { url: redis.url, fail, stop: redis.stop };
}

const SPACES = Array.from({ length: 12 }, (_, n) => `space-${n}`);

let redis: Kind;
let service: TestService;
let load: Load | null = null;
const watchers: Watcher[] = [];

afterEach(async () => {
  await Promise.all(watchers.splice(0).map((watcher) => watcher.stop()));
  await load?.stop().catch(() => undefined);
  load = null;
  try {
    await service?.stop(); // Compares records with indexes.
  } finally {
    await redis?.stop();
  }
}, 60_000);

it.each([
  ['sentinels', sentinels],
  ['a cluster', cluster],
])(
  'a primary of %s dies under load: 503 meanwhile, then all goes on and nobody was told less than happened',
  async (_, start) => {
    redis = await start();
    service = await startService({ DELIVERY_TIMEOUT_SECONDS: '1' }, { redisUrl: redis.url });
    const { key } = await service.key(['jobs:read']);
    const watched = await Promise.all(SPACES.map((space) => createJob(service, `${space}-watched`)));
    for (const { id } of watched) watchers.push(await watchJob(service, id, key));
    await until(() => watchers.every(({ connections }) => connections[0]?.[0] === 'init'));
    for (const { id } of watched)
      for (const verb of ['claim', 'ack']) await service.call('POST', `/jobs/${id}/${verb}`);

    load = startLoad(service, SPACES);
    const { created, handedOut, statuses } = load;
    await until(() => created.size >= 200);
    await redis.fail();
    await until(() => statuses.has(503));
    const before = created.size;
    // Every space, so every primary, takes jobs again.
    const isBack = async (space: string) =>
      (await service.call('POST', `/spaces/${space}-after/jobs`, { body: { name: 'work' } })).status === 201;
    for (const space of SPACES) await until(() => isBack(space));
    await until(() => created.size >= before + 200);
    await load.stop();

    expect([...handedOut.values()].filter((times) => times > 1)).toEqual([]);
    expect((await service.http.call('GET', '/readyz')).status).toBe(200);

    for (const { id } of watched) await service.call('POST', `/jobs/${id}/complete`);
    await until(() => watchers.every((watcher) => watcher.sawEnd()));
    // Each connection began with an init, and none saw an event twice or out of its place.
    const life = ['init', 'delivered', 'acked', 'completed'];
    for (const types of watchers.flatMap(({ connections }) => connections)) {
      expect(types[0]).toBe('init');
      expect(types).toEqual(life.filter((type) => types.includes(type)));
    }
  },
  90_000,
);
