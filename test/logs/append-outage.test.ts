import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { append, appendOk, asRead, entriesOf, gzipped, logsKey, readLogs, written } from './entries.js';

let redis: OwnRedis;
let service: TestService;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({}, { redisUrl: redis.url });
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
});

const isServing = async () => (await service.call('GET', '/spaces/outage/jobs')).status === 200;
const messagesOf = async (id: string) => (await readLogs(service, id)).map(({ message }) => message);

const FULL = {
  status: 503,
  headers: { 'retry-after': '1' },
  body: { error: 'Storage is full; nothing was stored', code: 'STORAGE_FULL' },
};
const AWAY = {
  status: 503,
  headers: { 'retry-after': '1' },
  body: { error: 'Storage did not answer; the outcome of this request is unknown', code: 'UNAVAILABLE' },
};

describe('when Redis has no memory left', () => {
  const fill = () => service.redis.config('SET', 'maxmemory', '1mb');
  const empty = () => service.redis.config('SET', 'maxmemory', '0');
  afterEach(empty);

  it('refuses logs and stores none of them, while their job completes', async () => {
    const [id, other] = [await jobIn(service, 'running', 'full'), await jobIn(service, 'running', 'full')];
    await appendOk(service, id, ['before']);
    const record = await service.redis.hgetall(service.store.keys.job(id));
    await fill();

    for (const batch of [{ body: ['a'] }, gzipped(written('NDJSON', entriesOf(1_000)))]) {
      expect(await append(service, id, batch)).toMatchObject(FULL);
      expect(await append(service, other, batch)).toMatchObject(FULL);
    }
    expect(await messagesOf(id)).toEqual(['before']);
    expect(await service.redis.hgetall(service.store.keys.job(id))).toEqual(record);
    expect(await service.redis.exists(logsKey(service, other))).toBe(0);
    expect(await service.call('POST', `/jobs/${id}/complete`, { body: { result: 1 } })).toMatchObject({ status: 200 });

    await empty();
    await appendOk(service, id, ['after'], 2);
    expect(await messagesOf(id)).toEqual(['before', 'after']);
    await appendOk(service, other, ['first']);
  });

  it('drops nothing either', async () => {
    const small = await startService({ LOGS_PER_JOB: '3' }, { redisUrl: redis.url });
    try {
      const { id } = await createJob(small, 'full');
      await appendOk(small, id, ['a', 'b', 'c', 'd']);
      await fill();
      expect(await append(small, id, { body: ['e', 'f'] })).toMatchObject(FULL);
      await empty();
      await appendOk(small, id, ['e'], 5);
      expect((await readLogs(small, id)).map(({ message }) => message)).toEqual(['c', 'd', 'e']);
    } finally {
      await empty();
      await small.stop();
    }
  });
});

it('stores every batch exactly once while Redis forgets its scripts', async () => {
  const { id } = await createJob(service, 'flush');
  for (let n = 0; n < 10; n++) {
    await service.redis.script('FLUSH');
    await appendOk(service, id, [`line ${n}`, 'and another'], 2 * n + 1);
  }
  await service.redis.script('FLUSH');
  const batches = Array.from({ length: 20 }, (_, n) => append(service, id, { body: [`at once ${n}`] }));
  for (const { status } of await Promise.all(batches)) expect(status).toBe(200);
  expect((await readLogs(service, id)).map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
});

it('answers 503 while Redis is down, and goes on where it was when it is back', async () => {
  const id = await jobIn(service, 'running', 'outage');
  const entries = entriesOf(10);
  await appendOk(service, id, entries);
  await redis.halt();

  expect(await append(service, id, { body: ['lost'] })).toMatchObject(AWAY);
  expect(await append(service, id, gzipped(written('NDJSON', entriesOf(1_000))))).toMatchObject(AWAY);

  await redis.resume();
  await until(isServing);
  await appendOk(service, id, ['back'], 11);
  const logs = await readLogs(service, id);
  expect(logs).toEqual([
    ...asRead(id, entries, logs[0]?.createdAt as string),
    ...asRead(id, ['back'], logs[10]?.createdAt as string, 11),
  ]);
});

it('stores a batch at most once, and whole, when its answer was lost', async () => {
  const { id } = await createJob(service, 'lost');
  await appendOk(service, id, ['before']);
  process.kill(redis.pid(), 'SIGSTOP');
  try {
    // The request sits in the socket of the stopped Redis; the caller hears that nobody knows.
    expect(await append(service, id, { body: ['a', 'b', 'c'] })).toMatchObject(AWAY);
  } finally {
    process.kill(redis.pid(), 'SIGCONT');
  }
  await until(isServing);
  const messages = await messagesOf(id);
  expect([['before'], ['before', 'a', 'b', 'c']]).toContainEqual(messages);
  await appendOk(service, id, ['after'], messages.length + 1);
});
