import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { partitionOf } from '@yardmaster/store';
import { type RedisProxy, startProxy } from '../faults/proxy.js';
import { jobIn } from '../support/jobs.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { type RedisNode, startNode } from '../support/redis/node.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

const DELAY_MS = 150;
const ROUND_TRIP_MS = 2 * DELAY_MS;
const PARTITIONS = 20;
const env = { DELIVERY_TIMEOUT_SECONDS: '1', PORT: '0' };

let node: RedisNode;
let proxy: RedisProxy;
let service: TestService;
let scheduler: RunningProcess;
beforeAll(async () => {
  node = await startNode({ lines: (port) => [`port ${port}`] });
  proxy = await startProxy(node.port);
  service = await startService(env, { redisUrl: `redis://127.0.0.1:${node.port}`, app: createApi });
  scheduler = runApp('scheduler', {
    ...env,
    REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
    KEY_PREFIX: service.prefix,
  });
  await until(() => scheduler.output().includes('scheduler listening'));
});
afterAll(async () => {
  await scheduler.stop();
  await service.stop();
  await proxy.stop();
  await node.stop();
});

/** Spaces of so many partitions, one of each. */
function spacesOf(partitions: number): string[] {
  const spaces = new Map<string, string>();
  for (let n = 0; spaces.size < partitions; n++) spaces.set(partitionOf(`far-${n}`), `far-${n}`);
  return [...spaces.values()];
}

it('sweeps several partitions at once, so that the round trips to a Redis that is far away do not add up', async () => {
  proxy.set({ delayMs: DELAY_MS });
  const ids = await Promise.all(spacesOf(PARTITIONS).map((space) => jobIn(service, 'delivered', space)));

  const at: number[] = [];
  for (const id of ids) {
    const told = async () =>
      (await service.call('GET', `/jobs/${id}`)).body.events as { type: string; createdAt: string }[];
    await until(async () => (await told()).some(({ type }) => type === 'delivery_timeout'));
    at.push(
      ...(await told()).filter(({ type }) => type === 'delivery_timeout').map((event) => Date.parse(event.createdAt)),
    );
  }

  const spreadMs = Math.max(...at) - Math.min(...at);
  expect(spreadMs).toBeLessThan(((PARTITIONS - 1) * ROUND_TRIP_MS) / 2);
});
