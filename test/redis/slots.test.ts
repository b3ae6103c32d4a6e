import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { partitionOf } from '@yardmaster/store';
import { createJob, jobIn } from '../support/jobs.js';
import { ask } from '../support/redis/ask.js';
import { type ClusterNode, type RedisCluster, startCluster } from '../support/redis/cluster.js';
import { beginMove, finishMove, moveKeys, moveSlot, ownerOf, type SlotMove, slotOf } from '../support/redis/slots.js';
import { startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

let redis: RedisCluster;
let service: TestService;

beforeAll(async () => {
  redis = await startCluster();
  service = await startService({}, { redisUrl: redis.url });
});

afterAll(async () => {
  try {
    await service?.stop(); // Compares records with indexes.
  } finally {
    await redis?.stop();
  }
});

const tell = (node: ClusterNode, ...command: [string, ...(string | number)[]]) => ask(redis.address(node), ...command);

/** A move of the slot of a space, away from the primary that has it. */
async function moveOf(space: string): Promise<SlotMove> {
  const slot = await slotOf(redis, `{${partitionOf(space)}}`);
  const from = await ownerOf(redis, slot);
  return { slot, from, to: (await redis.primaries()).find((other) => other !== from) as ClusterNode };
}

it('while a slot moves, calls are 503 and change nothing; after it, jobs and streams go on', async () => {
  const { key } = await service.key(['jobs:read']);
  const space = 'moving';
  const running = await Promise.all([1, 2, 3, 4, 5].map(() => jobIn(service, 'running', space)));
  const pending = await jobIn(service, 'pending', space);
  const stream = await StreamClient.open(service.url, `/${running[0]}?token=${key}`);
  const move = await moveOf(space);
  const keysOf = async (node: ClusterNode) => Number(await tell(node, 'CLUSTER', 'COUNTKEYSINSLOT', move.slot));
  const calls = () =>
    Promise.all([
      ...running.map((id) => service.call('POST', `/jobs/${id}/complete`, { body: { result: 1 } })),
      service.call('POST', `/jobs/${pending}/claim`),
      service.call('POST', `/spaces/${space}/jobs`, { body: { name: 'new' } }),
      service.call('POST', `/spaces/${space}/jobs/poll`),
      service.call('POST', `/jobs/${pending}/logs`, { body: ['line'] }),
      service.call('GET', `/jobs/${pending}`),
      service.call('GET', `/spaces/${space}/jobs`),
    ]);

  await beginMove(redis, move);
  const total = await keysOf(move.from);
  // With all keys still there, with one of them gone, and with one of them left.
  for (const step of [0, 1, total - 2]) {
    await moveKeys(redis, move, step);
    expect((await calls()).map(({ status }) => status)).toEqual(Array.from({ length: 11 }, () => 503));
    expect((await keysOf(move.from)) + (await keysOf(move.to))).toBe(total);
  }
  await moveKeys(redis, move, 1);
  await finishMove(redis, move);

  await until(async () => (await service.call('GET', `/jobs/${pending}`)).status === 200);
  for (const id of running)
    expect((await service.call('POST', `/jobs/${id}/complete`, { body: { result: 1 } })).status).toBe(200);
  await stream.next('completed');
  expect(stream.types()).toEqual(['init', 'completed']);
  const { body } = await service.call('POST', `/spaces/${space}/jobs/poll`);
  expect(body.jobs.map(({ id }: { id: string }) => id)).toEqual([pending]);
});

it('a stream hears its job wherever the slot goes', async () => {
  const { key } = await service.key(['jobs:read']);
  const space = 'travelling';
  const id = await jobIn(service, 'running', space);
  const job = await StreamClient.open(service.url, `/${id}?token=${key}`);
  for (let n = 1; n <= 3; n++) {
    const move = await moveOf(space);
    await moveSlot(redis, move);
    const report = () => service.call('POST', `/jobs/${id}/progress`, { body: { percent: n, message: 'on' } });
    await until(async () => (await report()).status === 200);
    await until(() => job.messages.some(({ data }) => data?.percent === n));
  }
  expect(job.types()).toEqual([
    'init',
    ...job
      .types()
      .slice(1)
      .map(() => 'progress'),
  ]);
  await job.close();
});

it('time-outs are met elsewhere while a slot moves in which one is due', async () => {
  // A sweep goes through the partitions in their order: one that comes first must not end it.
  const [first, last] = Array.from({ length: 100 }, (_, n) => `time-outs-${n}`)
    .sort((a, b) => partitionOf(a).localeCompare(partitionOf(b)))
    .filter((_, n) => n === 0 || n === 99) as [string, string];
  const early = await jobIn(service, 'running', first, { timeoutSeconds: 1, maxRetries: 0 });
  const move = await moveOf(first);
  await beginMove(redis, move);
  const late = await jobIn(service, 'running', last, { timeoutSeconds: 1, maxRetries: 0 });
  const statusOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).body.status;
  await until(async () => (await statusOf(late)) === 'dead');
  for (const node of [move.from, move.to]) await tell(node, 'CLUSTER', 'SETSLOT', move.slot, 'STABLE');
  await until(async () => (await statusOf(early)) === 'dead');
});

it('what a broken connection leaves unanswered is not sent again', async () => {
  const space = 'unanswered';
  await createJob(service, space);
  const { from } = await moveOf(space);
  // Scripts wait, and with their connection they are gone.
  await tell(from, 'CLIENT', 'PAUSE', 2_000, 'WRITE');
  const answers = Promise.all(
    Array.from({ length: 20 }, () => service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 1 } })),
  );
  // All of them have come, and wait behind the first.
  const unread = async () =>
    [...String(await tell(from, 'CLIENT', 'LIST')).matchAll(/ qbuf=(\d+)/g)].map(([, bytes]) => Number(bytes));
  await until(async () => (await unread()).some((bytes) => bytes > 19 * 150));
  await tell(from, 'CLIENT', 'KILL', 'TYPE', 'normal');
  expect((await answers).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 503));
  await tell(from, 'CLIENT', 'UNPAUSE');

  await until(async () => (await service.call('GET', `/spaces/${space}/jobs`)).status === 200);
  const { body } = await service.call('GET', `/spaces/${space}/jobs`);
  expect(body.map(({ status }: { status: string }) => status)).toEqual(['pending']);
});
