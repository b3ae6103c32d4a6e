import { expect, it } from '@jest/globals';
import { createJobRequest, type Operation, operationRequest } from '@yardmaster/protocol';
import {
  cancelOperation,
  createJobs,
  createStore,
  getOperation,
  packJob,
  partitionOf,
  type Store,
  startOperation,
  stepOperation,
  textOn,
} from '@yardmaster/store';
import {
  cancel_operation,
  read_operations,
  start_operation,
  step_operation,
} from '../../packages/store/src/script/scripts.generated.js';
import { connectTo } from '../support/connect.js';
import { withProxiedNode } from '../support/redis/proxied-node.js';
import { startFleet } from '../support/schedulers.js';
import type { TestService } from '../support/service.js';
import { until } from '../support/until.js';

// Operations on many jobs while replies of Redis are lost, and while schedulers and Redis are killed.
//
//   OPERATION_JOBS=1000000 npm run test:long -- resilience operations    number of jobs; default 6,000

const { node, proxy } = withProxiedNode();

/** Time limit that is enough for a million jobs. */
const LONG_MS = 3_600_000;

const WORK = { action: 'kill', filter: { status: 'pending', names: ['work'] } };

/** Create jobs in a space, of which two in three are named `work`. */
async function createAll(store: Store, spaceId: string, count: number): Promise<void> {
  const bodies = Array.from({ length: count }, (_, n) => ({ name: n % 3 === 0 ? 'other' : 'work', payload: { n } }));
  const packed = bodies.map((body) => packJob(spaceId, createJobRequest.parse(body), null));
  await createJobs(store, spaceId, packed, { idempotencyKey: null, inTurn: (run) => run() });
}

/** Let all jobs of a space die, fifty with a call. */
async function failAll(service: TestService, spaceId: string): Promise<void> {
  let settle: object[] = [];
  do {
    const body = { count: 50, autoAck: true, settle };
    const { jobs } = (await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body })).body;
    settle = jobs.map(({ id }: { id: string }) => ({ jobId: id, action: 'fail', error: 'no', retryable: false }));
  } while (settle.length > 0);
}

/** Call a function again and again until it gets its reply. */
async function untilReplied<T>(act: () => Promise<T>): Promise<T> {
  let reply: { value: T } | undefined;
  await until(async () => {
    reply = await act().then(
      (value) => ({ value }),
      () => undefined,
    );
    return reply !== undefined;
  });
  return (reply as { value: T }).value;
}

it('an operation changes each job once when the reply to each of its calls is lost', async () => {
  const redis = connectTo(`redis://127.0.0.1:${proxy.port}`);
  const store = createStore(redis, { keyPrefix: 'lost' });
  const spaceId = 'op-lost';
  await createAll(store, spaceId, 300);
  /** Make a call whose reply is lost, and then make it again. */
  async function callTwice<T>(script: { text: string }, act: () => Promise<T>): Promise<T> {
    const { sha1 } = textOn(store, script);
    const lost = proxy.intercept((words) => words.includes(sha1), { action: 'lose reply', end: 'cut' });
    const first = act().catch(() => undefined);
    await lost.happened;
    await first;
    return untilReplied(act);
  }
  const start = () => startOperation(store, spaceId, operationRequest.parse(WORK), 'key');
  const { operation, isReplay } = await callTwice(start_operation, start);
  expect(isReplay).toBe(true);

  const read = () => getOperation(store, { spaceId }, operation.id);
  const partition = partitionOf(spaceId);
  const seen: number[] = [];
  while ((await callTwice(read_operations, read)).status === 'running') {
    await callTwice(step_operation, () => stepOperation(store, partition));
    seen.push((await read()).changed);
  }

  expect(await read()).toMatchObject({ status: 'done', looked: 300, changed: 200, skipped: 0, left: 0 });
  expect(seen.every((changed, i) => changed >= (seen[i - 1] ?? 0))).toBe(true);
  expect(await redis.zcard(store.keys.jobsByStatus(spaceId, 'killed'))).toBe(200);
  const other = await startOperation(store, spaceId, operationRequest.parse(WORK), null);
  await callTwice(cancel_operation, () => cancelOperation(store, { spaceId }, other.operation.id));
  expect(await getOperation(store, { spaceId }, other.operation.id)).toMatchObject({ status: 'cancelled' });
  redis.disconnect();
});

it(
  'an operation changes each job once while schedulers and Redis are killed',
  async () => {
    const fleet = await startFleet({ schedulers: 2, redis: { url: `redis://127.0.0.1:${node.port}` } });
    const { store, redis } = fleet.service;
    const spaceId = 'op-killed';
    const count = Number(process.env.OPERATION_JOBS ?? 6_000);
    for (let i = 0; i < count; i += 1_000) await createAll(store, spaceId, 1_000);
    await failAll(fleet.service, spaceId);
    const work = { action: 'requeue', filter: { status: 'dead', names: ['work'] } };
    const { body } = await fleet.service.call('POST', `/spaces/${spaceId}/operations`, { body: work });
    const read = async (): Promise<Operation> =>
      (await untilReplied(async () => {
        const response = await fleet.service.call('GET', `/operations/${body.id}`);
        if (response.status !== 200) throw new Error(response.text);
        return response.body;
      })) as Operation;
    let running = await Promise.all([fleet.start(), fleet.start()]);
    for (const share of [0.1, 0.3, 0.5, 0.7]) {
      await until(async () => (await read()).looked >= share * count, LONG_MS);
      for (const scheduler of running) scheduler.child.kill('SIGKILL');
      if (share > 0.2) {
        await node.kill();
        await node.resume();
      }
      running = await Promise.all([fleet.start(), fleet.start()]);
    }
    await until(async () => (await read()).status === 'done', LONG_MS);

    const done = await read();
    expect(done).toMatchObject({ looked: count, skipped: 0, left: 0 });
    expect(done.changed).toBe(await redis.zcard(store.keys.jobsByStatus(spaceId, 'pending')));
    const { names, jobs } = (await fleet.service.call('GET', `/spaces/${spaceId}/stats`)).body;
    expect(names).toContainEqual(expect.objectContaining({ name: 'work', pending: done.changed, total: done.changed }));
    expect(jobs).toMatchObject({ pending: done.changed, dead: count - done.changed, total: count });
    await fleet.stop(); // It checks what is stored.
  },
  LONG_MS,
);
