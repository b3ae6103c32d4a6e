import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  ANY_SPACE,
  completeJob,
  createStore,
  failJob,
  heartbeatJob,
  killJob,
  redisNow,
  type Store,
} from '@yardmaster/store';
import { answer } from '../support/behaviours.js';
import { settled } from '../support/callbacks.js';
import { keysOf } from '../support/fsck.js';
import { jobIn } from '../support/jobs.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runMany } from '../support/schedulers.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

let service: TestService;
let receiver: Receiver;
/** Of the same settings as the service. */
let store: Store;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ RETENTION_SECONDS: '1', CALLBACK_RETRY_DELAYS: '2' });
  store = createStore(service.redis, { keyPrefix: service.prefix, retentionMs: 1_000 });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

/** Keys of jobs and of their indexes. */
const keysLeft = async () =>
  (await keysOf(service.redis, service.prefix)).filter((key) => !/:meta$|:\{bull\}:/.test(key));
const statusOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).status;

/** Ways to end, in turn. */
const ENDS = [
  (id: string) => completeJob(store, ANY_SPACE, id, { ok: true }),
  (id: string) => failJob(store, ANY_SPACE, id, 'broken'),
  (id: string) => killJob(store, ANY_SPACE, id, 'enough'),
];

it('ended jobs leave nothing behind once their retention is over, however many and long they are', async () => {
  const spaces = ['one', 'two', 'three', 'four'];
  const ids = (await Promise.all(spaces.map((space) => runMany(store, space, 750, { maxRetries: 0 })))).flat();
  const long = ids.slice(0, 10);
  const beats = long.flatMap((id) => Array.from({ length: 1_200 }, () => id));
  await Promise.all(beats.map((id, n) => heartbeatJob(store, ANY_SPACE, id, { kind: 'event', data: n })));
  await Promise.all(ids.map((id, n) => ENDS[n % 3]?.(id)));

  await until(async () => (await keysLeft()).length === 0);
  expect(await statusOf(ids[0] as string)).toBe(404);
  expect((await service.call('GET', '/spaces/one/jobs')).body).toEqual([]);
});

it('a job that has not ended stays', async () => {
  const statuses = ['pending', 'delivered', 'running'] as const;
  const ids = await Promise.all(statuses.map((status) => jobIn(service, status, 'open')));
  const fence = await jobIn(service, 'completed', 'open');
  await until(async () => (await statusOf(fence)) === 404);
  expect(await Promise.all(ids.map(statusOf))).toEqual([200, 200, 200]);
});

it('a job stays until its callback is settled, and then goes', async () => {
  const callbackUrl = receiver.script('/owed', answer(503), answer(204));
  const id = await jobIn(service, 'completed', 'owed', { callbackUrl });
  const [deadlines, callbacks] = [store.keys.deadlines(id.slice(0, 2)), store.keys.callbacks(id.slice(0, 2))];
  const fence = await jobIn(service, 'completed', 'owed');
  await until(async () => (await statusOf(fence)) === 404);
  expect(await service.redis.zscore(callbacks, id)).not.toBeNull();
  await settled(service, id);
  // The sweep has found it still owed, and looks again in a minute.
  await service.redis.zadd(deadlines, 'XX', await redisNow(store), id);
  await until(async () => (await statusOf(id)) === 404);
  expect(await service.redis.zscore(callbacks, id)).toBeNull();
});

it('a retention of 0 keeps jobs for ever', async () => {
  // Its jobs have no deadline, which is what fsck would miss.
  const keeping = await startService({ RETENTION_SECONDS: '0' }, { check: false });
  const kept = [
    await jobIn(keeping, 'completed', 'kept'),
    await jobIn(keeping, 'dead', 'kept'),
    await jobIn(keeping, 'killed', 'kept'),
    await jobIn(keeping, 'running', 'kept', { timeoutSeconds: 0.01, maxRetries: 0 }),
  ];
  const found = async (id: string) => (await keeping.call('GET', `/jobs/${id}`)).body.status;
  await until(async () => (await found(kept[3] as string)) === 'dead');
  // Of the same space, so that whoever purges it looks at the others, too.
  const brief = createStore(keeping.redis, { keyPrefix: keeping.prefix, retentionMs: 1_000 });
  const [fence] = (await runMany(brief, 'kept', 1)) as [string];
  await completeJob(brief, ANY_SPACE, fence, null);
  await until(async () => (await found(fence)) === undefined);
  expect(await Promise.all(kept.map(found))).toEqual(['completed', 'dead', 'killed', 'dead']);
  expect(await keeping.redis.zcard(keeping.store.keys.deadlines(fence.slice(0, 2)))).toBe(0);
  await keeping.stop();
});
