import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { jobIn } from '../../support/jobs.js';
import { ask } from '../../support/redis/ask.js';
import { type ClusterNode, type RedisCluster, startCluster } from '../../support/redis/cluster.js';
import { startService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

/** With it the mark of the first start is in the same third of the slots as BullMQ's keys. */
const PREFIX = 'ym';

let redis: RedisCluster;
let service: TestService;
/** A primary and its replica, which hold neither the API keys nor what every process reads at its start. */
let lost: ClusterNode[];
/** Spaces of the other primaries. */
const spaces: string[] = [];
/** Keys that no process has in its memory. */
const keys: string[] = [];

beforeAll(async () => {
  redis = await startCluster();
  service = await startService(
    { KEY_PREFIX: PREFIX, DELIVERY_TIMEOUT_SECONDS: '1' },
    { redis, hasDefaultTimeouts: true },
  );
  const first = redis.nodes[0] as ClusterNode;
  type Range = [from: number, to: number, ...nodes: [host: string, port: number][]];
  let ranges: Range[] = [];
  // A node hears of the others' replicas by and by.
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
  lost = redis.nodes.filter(({ port }) => range.slice(2).some((node) => (node as [string, number])[1] === port));
  const away: string[] = [];
  for (let n = 0; n < 40; n++) {
    const space = `space-${n}`;
    ((await rangeOf(`{${partitionOf(space)}}`)) === range ? away : spaces).push(space);
  }
  for (let n = 0; n < 30; n++) keys.push((await service.key(['jobs:read'])).key);

  for (const node of lost.reverse()) await node.kill();
  await until(async () => (await service.call('GET', `/spaces/${away[0]}/jobs`)).status === 503);
}, 60_000);

afterAll(async () => {
  for (const node of lost) await node.resume();
  await until(redis.isWhole);
  try {
    await service?.stop(); // Compares records with indexes.
  } finally {
    await redis?.stop();
  }
}, 60_000);

it('time-outs of the spaces of other primaries are met', async () => {
  const ids = await Promise.all(spaces.slice(0, 8).map((space) => jobIn(service, 'delivered', space)));
  for (const id of ids) await until(async () => (await service.call('GET', `/jobs/${id}`)).body.status === 'pending');
});

it('every key is known in the spaces of other primaries', async () => {
  const statuses = [];
  for (const key of keys) statuses.push((await service.call('GET', `/spaces/${spaces[0]}/jobs`, { key })).status);
  expect(statuses).toEqual(keys.map(() => 200));
});

it('a process starts all the same', async () => {
  // More than one: which node ioredis asks first is a matter of chance.
  for (let n = 0; n < 6; n++) {
    const another = await startService(
      { KEY_PREFIX: PREFIX },
      { redis, hasDefaultTimeouts: true, check: false, app: 'api' },
    );
    expect((await another.http.call('GET', '/readyz')).status).toBe(200);
    await another.stop();
  }
}, 30_000);
