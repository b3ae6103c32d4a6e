import { afterEach, it } from '@jest/globals';
import { type RunningApp, startApp } from '../../support/process.js';
import { type RedisCluster, startCluster } from '../../support/redis/cluster.js';
import { type Sentinels, startSentinels } from '../../support/redis/sentinels.js';
import { startService, type TestService } from '../../support/service.js';
import { ADMIN_KEY } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

let redis: Sentinels | RedisCluster | null = null;
let service: TestService | null = null;
const others: RunningApp[] = [];

afterEach(async () => {
  await Promise.all(others.splice(0).map((each) => each.stop()));
  await service?.stop().finally(() => redis?.stop());
});

/** Kill the primary, and wait until Sentinels name another. */
async function failOver(sentinels: Sentinels): Promise<void> {
  const old = await sentinels.killPrimary();
  await until(async () => (await sentinels.primary()) !== old);
}

/** Kill each primary in its turn, and wait until its replica has its place: none that a process began with is left. */
async function failOverEach(cluster: RedisCluster): Promise<void> {
  for (const old of await cluster.primaries()) {
    await old.kill();
    await until(async () => (await cluster.primaries()).length === 3);
    await until(cluster.isWhole);
  }
}

it.each<[kind: string, start: () => Promise<Sentinels | RedisCluster>]>([
  ['Sentinel', startSentinels],
  ['a cluster', startCluster],
])('the API, the gateway and the scheduler are ready again after a failover of %s', async (_, start) => {
  redis = await start();
  const api = await startService({}, { redis, app: 'api', hasDefaultTimeouts: true });
  service = api;
  const env = { REDIS_URL: redis.url, KEY_PREFIX: api.prefix, ADMIN_API_KEY: ADMIN_KEY };
  for (const app of ['gateway', 'scheduler']) others.push(await startApp(app, env));
  const areReady = async () => {
    const all = await Promise.all([api, ...others].map(({ url }) => fetch(`${url}/readyz`)));
    return all.every(({ status }) => status === 200);
  };
  await until(areReady);
  await ('sentinels' in redis ? failOver(redis) : failOverEach(redis));
  await until(areReady);
  // And work is done again, on every primary of a cluster.
  for (let n = 0; n < 12; n++) {
    const create = () => api.call('POST', `/spaces/space-${n}/jobs`, { body: { name: 'work' } });
    await until(async () => (await create()).status === 201);
  }
});
