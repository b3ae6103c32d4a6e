import { expect, it } from '@jest/globals';
import { during } from '../../support/during.js';
import { ask } from '../../support/redis/ask.js';
import { startCluster } from '../../support/redis/cluster.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';

const redis = during(startStrictCluster, (cluster) => cluster.stop());
const service = withService({}, { redis, hasDefaultTimeouts: true });

/** Start a cluster that refuses all commands while a shard is down. */
async function startStrictCluster() {
  const cluster = await startCluster();
  for (const node of cluster.nodes)
    await ask(cluster.address(node), 'CONFIG', 'SET', 'cluster-require-full-coverage', 'yes');
  return cluster;
}

const ready = async () => (await service.http.call('GET', '/readyz')).status;

it('the service is not ready while a cluster lacks a shard, and ready once it accepts commands again', async () => {
  expect(await ready()).toBe(200);
  // On a busy machine, a replica may already have become the primary.
  const roles = await Promise.all(redis.nodes.map((node) => node.roleNow()));
  // All replicas first, so that no replica can take over.
  for (const [i, node] of redis.nodes.entries()) if (roles[i] === 'replica') await node.kill();
  const primary = redis.nodes[roles.indexOf('primary')];
  await primary?.kill();
  await until(async () => (await ready()) === 503);
  await primary?.resume();
  await until(async () => (await ready()) === 200);
});
