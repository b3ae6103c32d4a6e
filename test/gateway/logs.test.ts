import { beforeEach, expect, it } from '@jest/globals';
import { appendEvents } from '../support/job-state.js';
import { jobIn, writeHistory } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { append, logSeqsOf, seqs, storedEntries } from './logs.js';

// messages/messages.test.ts tests a job's logs in every status and for every visibility.

const LOGS_PER_JOB = 10;

// This file has a Redis of its own, because it cuts connections of subscribers.
const redis = withRedis();
const service = withService({ LOGS_PER_JOB: String(LOGS_PER_JOB) }, { redis });
const open = withStreams(service);

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'logs');
});

const openJob = () => open(`/${id}?token=${ADMIN_KEY}`);
const openSpace = () => open(`/spaces/logs?token=${ADMIN_KEY}`);
const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const logsKey = () => `${service.store.keys.job(id)}:logs`;

it('sends one stream message per batch of logs, with the time at which its entries were stored', async () => {
  const client = await openJob();
  for (const count of [1, 4, 2]) await append(service, id, count);
  await until(() => logSeqsOf(client).includes(7));
  const stored = (await service.call('GET', `/jobs/${id}/logs`)).body.logs;
  const batch = (fromSeq: number, toSeq: number) => ({
    data: { fromSeq, toSeq, count: toSeq - fromSeq + 1 },
    timestamp: stored[fromSeq - 1].createdAt,
  });
  const messages = client.messages.slice(1).map(({ data, timestamp }) => ({ data, timestamp }));
  expect(messages).toEqual([batch(1, 1), batch(2, 5), batch(6, 7)]);
});

it('counts entries in its message that LOGS_PER_JOB drops immediately, and sends a later client only later ones', async () => {
  const early = await openJob();
  await append(service, id, LOGS_PER_JOB + 5);
  const late = await openJob();
  await append(service, id, 1);
  for (const client of [early, late]) await until(() => logSeqsOf(client).includes(16));
  expect(early.dataOf('logs_appended')).toEqual([
    { fromSeq: 1, toSeq: 15, count: 15 },
    { fromSeq: 16, toSeq: 16, count: 1 },
  ]);
  expect(late.dataOf('logs_appended')).toEqual([{ fromSeq: 16, toSeq: 16, count: 1 }]);
});

it('sends no stream message for a refused batch of logs', async () => {
  const clients = [await openJob(), await openSpace()];
  for (const body of [[], ['good', { message: 'bad', level: 'loud' }]])
    expect((await post('logs', body)).status).toBe(400);
  await append(service, id);
  for (const client of clients) {
    await client.next('logs_appended');
    expect(logSeqsOf(client)).toEqual([1]);
  }
});

it('sends each client of a job exactly the logs that it has missed', async () => {
  const early = await openJob();
  await append(service, id, 2);
  // A client that connects after these entries begins after them.
  await service.redis.rpush(logsKey(), ...storedEntries(3));
  const late = await openJob();
  const lateProgress = await open(`/${id}`);
  await append(service, id, 1);
  await until(() => [early, late].every((client) => logSeqsOf(client).includes(6)));
  expect([logSeqsOf(early), logSeqsOf(late)]).toEqual([seqs(1, 6), [6]]);
  expect(lateProgress.types()).toEqual(['init']);
});

it('sends an event before a later append of logs', async () => {
  const client = await openJob();
  await writeHistory(service, id);
  await appendEvents(service.redis, service.store.keys.job(id), '["event",1,"unpublished"]');
  await service.redis.rpush(logsKey(), ...storedEntries(1));
  await append(service, id, 1);
  await until(() => logSeqsOf(client).includes(2) && client.types().includes('event'));
  expect(client.types()).toEqual(['init', 'event', 'logs_appended']);
  expect(client.messages.at(-1)?.data).toEqual({ fromSeq: 1, toSeq: 2, count: 2 });
});

it('reports missed logs even if LOGS_PER_JOB has dropped them', async () => {
  const client = await openJob();
  await append(service, id, 2);
  await until(() => logSeqsOf(client).length === 2);
  // One pipeline, so that the gateway cannot be back before: five more entries, of which only the last is kept.
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpush(logsKey(), ...storedEntries(5))
    .ltrim(logsKey(), -1, -1)
    .hset(service.store.keys.job(id), 'logsDropped', 6)
    .exec();
  await until(() => logSeqsOf(client).length > 2);
  expect(logSeqsOf(client)).toEqual(seqs(1, 7));
});

it('closes a stream with 1012 if Redis comes up with fewer logs than the client has seen', async () => {
  const client = await openJob();
  await append(service, id, 3);
  await until(() => logSeqsOf(client).length === 3);
  // As after a failover to a replica that lagged behind.
  await service.redis.rpop(logsKey());
  await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect(await client.end()).toEqual({ code: 1012, reason: 'messages may be missing' });
  const next = await openJob();
  expect(await append(service, id)).toMatchObject({ fromSeq: 3 });
  expect(await next.next('logs_appended')).toMatchObject({ data: { fromSeq: 3, toSeq: 3, count: 1 } });
});

it('ignores an old message that is published again', async () => {
  const client = await openJob();
  await append(service, id, 2);
  const { timestamp, ...message } = await client.next('logs_appended');
  await append(service, id, 1);
  const old = JSON.stringify({ ...message, seq: null, spaceId: 'logs', at: Date.parse(timestamp) });
  await service.redis.publish(service.store.keys.jobChannel(id), old);
  await append(service, id, 1);
  await until(() => logSeqsOf(client).includes(4));
  expect(logSeqsOf(client)).toEqual(seqs(1, 4));
});

/** Data of log messages that no script publishes, as JSON; undefined for a message without data. */
const INVALID_DATA = [
  undefined,
  'null',
  '"1"',
  '[1,1,1]',
  '{}',
  '{"toSeq":1,"count":1}',
  '{"fromSeq":1,"count":1}',
  '{"fromSeq":1,"toSeq":1}',
  '{"fromSeq":"1","toSeq":"1","count":"1"}',
  '{"fromSeq":null,"toSeq":null,"count":null}',
  '{"fromSeq":-2,"toSeq":-1,"count":2}',
  '{"fromSeq":0,"toSeq":1,"count":2}',
  '{"fromSeq":0.5,"toSeq":1.5,"count":2}',
  '{"fromSeq":3,"toSeq":1,"count":3}',
  '{"fromSeq":3,"toSeq":1,"count":-1}',
  '{"fromSeq":2,"toSeq":1,"count":0}',
  '{"fromSeq":1,"toSeq":2,"count":"2"}',
  '{"fromSeq":1,"toSeq":2,"count":7}',
  '{"fromSeq":1,"toSeq":1e300,"count":1e300}',
];

/** Return messages that are not events of a job. Any client of Redis may publish them. */
const invalidMessages = () => {
  const job = `"jobId":"${id}","jobName":"work","spaceId":"logs","status":"running"`;
  return [
    'no JSON',
    'null',
    '[]',
    '{"seq":null,"type":"progress"}',
    `{"seq":4,${job},"type":"event","data":1,"at":"x"}`,
    `{"seq":4,${job},"type":"event","data":1,"at":1e99}`,
    `{"seq":0.5,${job},"type":"event","data":1,"at":1}`,
    ...INVALID_DATA.map(
      (data) => `{"seq":null,${job},"type":"logs_appended",${data === undefined ? '' : `"data":${data},`}"at":1}`,
    ),
  ];
};

it('ignores published messages that are not events', async () => {
  const [job, space, progress] = [await openJob(), await openSpace(), await open(`/${id}`)];
  for (const message of invalidMessages()) {
    await service.redis.publish(service.store.keys.jobChannel(id), message);
    await service.redis.publish(service.store.keys.spaceChannel('logs'), message);
  }
  await append(service, id, 3);
  await post('event', 'after');
  await post('progress', { percent: 1, message: 'x' });
  for (const client of [job, space]) {
    await client.next('progress');
    expect(client.types()).toEqual(['init', 'logs_appended', 'event', 'progress']);
    expect(logSeqsOf(client)).toEqual([1, 2, 3]);
  }
  await progress.next('progress');
  expect(progress.types()).toEqual(['init', 'progress']);
});
