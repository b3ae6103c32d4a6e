import { afterEach, describe, it } from '@jest/globals';
import { during } from '../../support/during.js';
import { type RunningApp, startApp } from '../../support/process.js';
import { type RedisCluster, startCluster } from '../../support/redis/cluster.js';
import { type Sentinels, startSentinels } from '../../support/redis/sentinels.js';
import { withService } from '../../support/service.js';
import { ADMIN_KEY } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

/** Kill the primary, and wait until Sentinels name another one. */
async function failOver(sentinels: Sentinels): Promise<void> {
  const old = await sentinels.killPrimary();
  await until(async () => (await sentinels.primary()) !== old);
}

/** Kill each primary in sequence, and wait for its replica, so that no original primary is left. */
async function failOverEach(cluster: RedisCluster): Promise<void> {
  for (const old of await cluster.primaries()) {
    await old.kill();
    await until(async () => (await cluster.primaries()).length === 3);
    await until(cluster.isWhole);
  }
}

describe.each<[kind: string, start: () => Promise<Sentinels | RedisCluster>]>([
  ['Sentinel', startSentinels],
  ['a cluster', startCluster],
])('after a failover of %s', (_, start) => {
  const redis = during(start, ({ stop }) => stop());
  const api = withService({}, { redis, app: 'api', hasDefaultTimeouts: true });
  const others: RunningApp[] = [];
  afterEach(async () => {
    await Promise.all(others.splice(0).map((each) => each.stop()));
  });

  it('the API, the gateway and the scheduler are ready and create jobs after a failover', async () => {
    const env = { REDIS_URL: redis.url, KEY_PREFIX: api.prefix, ADMIN_API_KEY: ADMIN_KEY };
    for (const app of ['gateway', 'scheduler']) others.push(await startApp(app, env));
    const areReady = async () => {
      const all = await Promise.all([api, ...others].map(({ url }) => fetch(`${url}/readyz`)));
      return all.every(({ status }) => status === 200);
    };
    await until(areReady);
    await ('sentinels' in redis ? failOver(redis) : failOverEach(redis));
    await until(areReady);
    // Jobs can be created again, on every primary of a cluster.
    for (let n = 0; n < 12; n++) {
      const create = () => api.call('POST', `/spaces/space-${n}/jobs`, { body: { name: 'work' } });
      await until(async () => (await create()).status === 201);
    }
  });
});
