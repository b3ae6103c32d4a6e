import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ANY_SPACE, appendLogs, completeJob, heartbeatJob, packLog } from '@yardmaster/store';
import { jobIn, writeHistory } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { append, seqs, toldTo } from './logs.js';

// Of this file's own: it cuts connections of whoever subscribes.
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

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'cut');
});

const clients: StreamClient[] = [];
const open = async (path: string) => {
  const client = await StreamClient.open(service.url, path);
  clients.push(client);
  return client;
};
const openFull = () => open(`/${id}?token=${ADMIN_KEY}`);
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const logsKey = () => `${service.store.keys.job(id)}:logs`;
const subscribers = async () => ((await service.redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string).trim();

/** Cut the connections over which messages come, and right behind it, before anybody can be back, do something. */
async function cutAnd(meanwhile: () => Promise<unknown>): Promise<void> {
  await until(async () => (await subscribers()) !== ''); // Back since the last cut.
  const killed = service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  const done = meanwhile();
  expect(await killed).toBeGreaterThan(0);
  await done;
}

// On the connection that cuts, so that Redis gets to them first.
const appendBehind = (count: number) => {
  const logs = Array.from({ length: count }, (_, n) => packLog({ message: `entry ${n}` }));
  return appendLogs(service.store, ANY_SPACE, id, logs);
};
const eventBehind = (data: string) => heartbeatJob(service.store, ANY_SPACE, id, { kind: 'event', data });

it('tells of every entry once and in order although the connection to Redis is cut 20 times', async () => {
  const [full, anonymous] = [await openFull(), await open(`/${id}`)];
  let last = 0;
  for (let cut = 0; cut < 20; cut++) {
    await cutAnd(() => Promise.all([append(service, id, 3), append(service, id, 2), post('event', cut)]));
    last = (await append(service, id, 1)).toSeq;
    // Half of the time the next cut comes before the gap is closed.
    if (cut % 2 === 0) await until(() => toldTo(full).at(-1) === last);
  }
  await post('complete', { result: 'whole' });
  await full.next('completed');
  await anonymous.next('completed');
  expect(toldTo(full)).toEqual(seqs(1, 20 * 6));
  expect(full.messages.filter(({ type }) => type === 'event').map(({ data }) => data)).toEqual(seqs(0, 19));
  expect(full.types().at(-1)).toBe('completed');
  expect(anonymous.types()).toEqual(['init', 'completed']);
  expect(full.closed).toBeNull();
});

it('tells of what was missed in one message, even when nothing happens after it', async () => {
  const client = await openFull();
  await append(service, id, 2);
  await until(() => toldTo(client).length === 2);
  await cutAnd(() => Promise.all([appendBehind(3), appendBehind(1), appendBehind(2)]));
  await until(() => toldTo(client).length > 2);
  const { timestamp, ...message } = client.messages[2];
  expect(message).toEqual({
    jobId: id,
    jobName: 'work',
    type: 'logs_appended',
    status: 'running',
    data: { fromSeq: 3, toSeq: 8, count: 6 },
  });
  expect(new Date(timestamp).toISOString()).toBe(timestamp);
});

it('tells of missed logs before the end of the job that came after them', async () => {
  const client = await openFull();
  await cutAnd(() =>
    Promise.all([
      appendBehind(2),
      eventBehind('one'),
      appendBehind(3),
      eventBehind('two'),
      completeJob(service.store, ANY_SPACE, id, 'end'),
    ]),
  );
  await client.next('completed');
  expect(toldTo(client)).toEqual([1, 2, 3, 4, 5]);
  expect(client.types().at(-1)).toBe('completed');
  expect(client.messages.filter(({ type }) => type === 'event').map(({ data }) => data)).toEqual(['one', 'two']);
  // What the client knows by then, although the job has ended.
  expect(client.messages.slice(0, -1).map(({ status }) => status)).not.toContain('completed');
});

it('tells of missed logs in their place among hundreds of missed events', async () => {
  const client = await openFull();
  await writeHistory(service, id);
  const began = Date.now();
  const events = Array.from({ length: 250 }, (_, n) => JSON.stringify(['event', began + n, n]));
  // In one go, so that nobody can be back in between; the log entry is as old as the 121st event.
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpush(`${service.store.keys.job(id)}:events`, ...events)
    .rpush(logsKey(), JSON.stringify([began + 120, 2, 'unheard']))
    .exec();
  await until(() => client.messages.length === 1 + 250 + 1);
  expect(client.messages.slice(1).map(({ type, data }) => (type === 'event' ? data : data.toSeq))).toEqual([
    ...seqs(0, 119),
    1,
    ...seqs(120, 249),
  ]);
});

it('tells of missed logs that came after the end of the job', async () => {
  const client = await openFull();
  await cutAnd(() => Promise.all([completeJob(service.store, ANY_SPACE, id, 'end'), appendBehind(3)]));
  await until(() => client.types().includes('completed') && toldTo(client).length > 0);
  await append(service, id);
  await until(() => toldTo(client).includes(4));
  expect(toldTo(client)).toEqual([1, 2, 3, 4]);
  expect(client.types().filter((type) => type === 'completed')).toHaveLength(1);
});

it('goes on over a restart of Redis', async () => {
  const client = await openFull();
  await append(service, id, 2);
  await until(() => toldTo(client).length === 2);
  await redis.halt();
  await redis.resume();
  let last = 0;
  await until(async () => {
    const { status, body } = await post('logs', ['after']);
    last = body.toSeq;
    return status === 200;
  });
  await until(() => toldTo(client).includes(last));
  expect(toldTo(client)).toEqual(seqs(1, last));
});
