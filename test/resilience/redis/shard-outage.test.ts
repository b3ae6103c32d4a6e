import { expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { during } from '../../support/during.js';
import { jobIn } from '../../support/jobs.js';
import { ask } from '../../support/redis/ask.js';
import { startCluster } from '../../support/redis/cluster.js';
import { startService, withService } from '../../support/service.js';
import { until } from '../../support/until.js';

/** With this prefix, the key `meta` is in the same third of the slots as BullMQ's keys. */
const PREFIX = 'ym';

const redis = during(startCluster, (cluster) => cluster.stop());
const service = withService({ KEY_PREFIX: PREFIX, DELIVERY_TIMEOUT_SECONDS: '1' }, { redis, hasDefaultTimeouts: true });
/** Spaces of the other primaries. */
const spaces: string[] = [];
/** API keys that no process has cached. */
const keys: string[] = [];

during(killShard, async ({ nodes }) => {
  for (const node of nodes) await node.resume();
  await until(redis.isWhole);
});

/** Kill a primary and its replica, which have neither the API keys nor the keys that every process reads at its start. */
async function killShard() {
  const first = redis.nodes[0] as (typeof redis.nodes)[number];
  type Range = [from: number, to: number, ...nodes: [host: string, port: number][]];
  let ranges: Range[] = [];
  // A node learns of the others' replicas with a delay.
  await until(async () => {
    ranges = (await ask(redis.address(first), 'CLUSTER', 'SLOTS')) as Range[];
    return ranges.length === 3 && ranges.every((range) => range.length === 4);
  });
  const slotOf = async (key: string) => Number(await ask(redis.address(first), 'CLUSTER', 'KEYSLOT', key));
  const rangeOf = async (key: string) => {
    const slot = await slotOf(key);
    return ranges.find(([from, to]) => from <= slot && slot <= to) as Range;
  };
  const needed = await Promise.all([service.store.keys.meta, '{keys}', '{bull}'].map(rangeOf));
  const range = ranges.find((it) => !needed.includes(it)) as Range;
  const nodes = redis.nodes.filter(({ port }) => range.slice(2).some((node) => (node as [string, number])[1] === port));
  const away: string[] = [];
  for (let n = 0; n < 40; n++) {
    const space = `space-${n}`;
    ((await rangeOf(`{${partitionOf(space)}}`)) === range ? away : spaces).push(space);
  }
  for (let n = 0; n < 30; n++) keys.push((await service.key(['jobs:read'])).key);

  for (const node of nodes.reverse()) await node.kill();
  await until(async () => (await service.call('GET', `/spaces/${away[0]}/jobs`)).status === 503);
  return { nodes };
}

it('expires deliveries in the spaces of other primaries while one shard is down', async () => {
  const ids = await Promise.all(spaces.slice(0, 8).map((space) => jobIn(service, 'delivered', space)));
  for (const id of ids) await until(async () => (await service.call('GET', `/jobs/${id}`)).body.status === 'pending');
});

it('accepts every API key in the spaces of other primaries while one shard is down', async () => {
  const statuses = [];
  for (const key of keys) statuses.push((await service.call('GET', `/spaces/${spaces[0]}/jobs`, { key })).status);
  expect(statuses).toEqual(keys.map(() => 200));
});

it('a process starts while one shard is down', async () => {
  // Several, because ioredis asks a random node first.
  for (let n = 0; n < 6; n++) {
    const another = await startService(
      { KEY_PREFIX: PREFIX },
      { redis, hasDefaultTimeouts: true, check: false, app: 'api' },
    );
    expect((await another.http.call('GET', '/readyz')).status).toBe(200);
    await another.stop();
  }
});
