import { expect, it } from '@jest/globals';
import { ANY_SPACE, completeJob, createStore, failJob, killJob } from '@yardmaster/store';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, readJob, settled } from '../support/callbacks.js';
import { keysOf } from '../support/fsck.js';
import { jobIn } from '../support/jobs.js';
import { withReceiver } from '../support/receiver.js';
import { makeDue, runMany } from '../support/schedulers.js';
import { startService, type TestService, withService } from '../support/service.js';
import { until } from '../support/until.js';

const receiver = withReceiver();
/** A service with the default retention. */
const standing = withService();
const service = withService({ RETENTION_SECONDS: '1', CALLBACK_RETRY_DELAYS: '3600' });
/** A service that keeps ended jobs forever. Its jobs have no deadline, which fsck would report as missing. */
const keeping = withService({ RETENTION_SECONDS: '0' });

/** Create a store whose jobs are purged after a second. */
const storeOf = ({ redis, prefix }: TestService) => createStore(redis, { keyPrefix: prefix, retentionMs: 1_000 });
const statusOf = async (id: string, from = service) => (await from.call('GET', `/jobs/${id}`)).body.status;
const isGone = async (id: string) => (await service.call('GET', `/jobs/${id}`)).status === 404;

it('ended jobs are removed with all their keys after their retention, however many there are', async () => {
  const store = storeOf(service);
  const ids = (await Promise.all(['one', 'two'].map((space) => runMany(store, space, 210, { maxRetries: 0 })))) // A step purges 100.
    .flat();
  const [first] = ids as [string];
  for (const [verb, body] of [
    ['progress', { percent: 1, message: 'x' }],
    ['checkpoint', 1],
    ['event', 1],
    ['logs', ['a line']],
  ] as const)
    expect(await service.call('POST', `/jobs/${first}/${verb}`, { body })).toMatchObject({ status: 200 });
  const ends = [
    (id: string) => completeJob(store, ANY_SPACE, id, { ok: true }),
    (id: string) => failJob(store, ANY_SPACE, id, { error: 'broken' }),
    (id: string) => killJob(store, ANY_SPACE, id, 'enough'),
  ];
  await Promise.all(ids.map((id, n) => ends[n % 3]?.(id)));

  const left = async () =>
    (await keysOf(service.redis, service.prefix)).filter((key) => !/:meta$|:\{bull\}:/.test(key));
  await until(async () => (await left()).length === 0);
  expect(await isGone(first)).toBe(true);
  expect((await service.call('GET', '/spaces/one/jobs')).body).toEqual([]);
});

it('an ended job is kept for a week unless RETENTION_SECONDS says otherwise', async () => {
  const id = await jobIn(standing, 'completed', 'week');
  const { completedAt } = await readJob(standing, id);
  const deadline = await standing.redis.zscore(standing.store.keys.deadlines(id.slice(0, 2)), id);
  expect(Number(deadline)).toBe(Date.parse(completedAt) + 604_800_000);
});

it('a job that has not ended is kept past the retention', async () => {
  const statuses = ['pending', 'delivered', 'running'] as const;
  const ids = await Promise.all(statuses.map((status) => jobIn(service, status, 'open')));
  const ended = await jobIn(service, 'completed', 'open');
  await until(() => isGone(ended));
  expect(await Promise.all(ids.map((id) => statusOf(id)))).toEqual([...statuses]);
});

it('an ended job is kept until its callback is settled', async () => {
  const callbackUrl = receiver.script('/pending', respondWith(503), respondWith(204));
  const id = await jobIn(service, 'completed', 'called', { callbackUrl });
  await until(async () => attemptsOf(await readJob(service, id)).length === 1);
  const other = await jobIn(service, 'completed', 'called');
  await makeDue(service, id, other);
  await until(() => isGone(other));
  await service.call('POST', `/jobs/${id}/callback/redeliver`);
  await settled(service, id);
  await makeDue(service, id); // A sweep found the callback pending, and would look again only after a minute.
  await until(() => isGone(id));
});

it('ended jobs are kept forever with a retention of 0', async () => {
  const kept = [
    await jobIn(keeping, 'completed', 'kept'),
    await jobIn(keeping, 'dead', 'kept'),
    await jobIn(keeping, 'killed', 'kept'),
    await jobIn(keeping, 'running', 'kept', { timeoutSeconds: 0.01, maxRetries: 0 }),
  ];
  await until(async () => (await statusOf(kept[3] as string, keeping)) === 'dead');
  // This job has the same partition, so the sweep that removes it also looks at the others.
  const [brief] = (await runMany(keeping.store, 'kept', 1)) as [string];
  await completeJob(storeOf(keeping), ANY_SPACE, brief, null);
  await until(async () => (await statusOf(brief, keeping)) === undefined);
  const statuses = await Promise.all(kept.map((id) => statusOf(id, keeping)));
  expect(statuses).toEqual(['completed', 'dead', 'killed', 'dead']);
  expect(await keeping.redis.zcard(keeping.store.keys.deadlines(brief.slice(0, 2)))).toBe(0);
});

it('a scheduler removes only expired API keys when the schedule starts', async () => {
  const { redis, store, prefix } = standing;
  const kept = await standing.key(['jobs:read'], { spaceId: 'expiry', expiresAt: '2999-01-01T00:00:00.000Z' });
  const expired = await standing.key(['jobs:read'], { spaceId: 'expiry' });
  const record = JSON.parse((await redis.hget(store.keys.apiKeys, expired.id)) as string);
  const past = JSON.stringify({ ...record, expiresAt: '2020-01-01T00:00:00.000Z' });
  const more = Array.from({ length: 300 }, (_, n) => [`expired${n}`, past]).flat(); // More than one page of a scan contains.
  await redis.hset(store.keys.apiKeys, expired.id, past, 'broken', '{', ...more);
  const ticks = await keysOf(redis, `${store.keys.bull}:ticks`);
  if (ticks.length > 0) await redis.del(ticks);
  const scheduler = await startService({ KEY_PREFIX: prefix }, { app: 'scheduler', check: false });
  const left = async () => (await redis.hkeys(store.keys.apiKeys)).filter((id) => id.startsWith('expired'));
  await until(async () => (await left()).length === 0);
  const [isExpired, isKept, isBroken] = [expired.id, kept.id, 'broken'].map((id) =>
    redis.hexists(store.keys.apiKeys, id),
  );
  expect(await Promise.all([isExpired, isKept, isBroken])).toEqual([0, 1, 1]);
  const entries = [`/${expired.id}`, `expiry/${expired.id}`, `/${kept.id}`, `expiry/${kept.id}`];
  expect(await redis.zmscore(store.keys.apiKeyIndex, ...entries)).toEqual([null, null, '0', '0']);
  await redis.hdel(store.keys.apiKeys, 'broken');
  await scheduler.stop();
});
