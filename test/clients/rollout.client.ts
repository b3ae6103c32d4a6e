import { afterEach, expect, it } from '@jest/globals';
import { createStore } from '@yardmaster/store';
import { type Counting, startCounting } from '../resilience/restore/counting.js';
import { startSteadyLoad } from '../resilience/restore/load.js';
import { connectTo } from '../support/connect.js';
import { fsck } from '../support/fsck.js';
import { HttpClient } from '../support/http.js';
import { startTopology, type Topology } from '../support/topology.js';
import { until } from '../support/until.js';

let topology: Topology | null = null;
let http: HttpClient | null = null;

afterEach(async () => {
  http?.close();
  await topology?.stop();
}, 60_000);

it('a rolling restart under 200 jobs per second fails no call and misses no event', async () => {
  topology = await startTopology();
  const { url, adminKey: key, processes } = topology;
  http = new HttpClient(url);
  const counting: Counting = await startCounting({ http, url, key }, 10);
  const load = startSteadyLoad({ http, key, rate: 200, atMost: 100 });
  await until(() => load.completed.size >= 400);

  for (const each of processes) {
    const before = load.completed.size;
    await each.restart();
    await until(() => load.completed.size >= before + 200);
  }
  await load.stop();
  await counting.finish();

  expect(load.failures).toEqual([]);
  expect(counting.faults).toEqual([]);
  expect(counting.reconnects()).toBeGreaterThan(0);
  expect([...load.completed].sort()).toEqual([...load.created].sort());
  const redis = connectTo(topology.redisUrl);
  expect(await fsck(createStore(redis, { keyPrefix: topology.prefix }))).toEqual([]);
  redis.disconnect();
}, 180_000);
