import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANY_SPACE, appendLogs, completeJob, heartbeatJob, packLog } from '@yardmaster/store';
import { withGateway } from '../gateway/gateway.js';
import { append, logSeqsOf, seqs } from '../gateway/logs.js';
import { AGREE_WITH_LIST, appendEvents } from '../support/job-state.js';
import { createJob, jobIn, writeHistory } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

const redis = withRedis();
const service = withService({}, { redis });
const open = withStreams(service);

let id: string;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'cut');
});

const MISSING = { code: 1012, reason: 'messages may be missing' };

const openJob = (url?: string) => open(`/${id}?token=${ADMIN_KEY}`, url);
const openSpace = (url?: string) => open(`/spaces/cut?token=${ADMIN_KEY}`, url);
const post = (verb: string, body?: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const jobKey = () => service.store.keys.job(id);
const subscribers = async () => ((await service.redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string).trim();

/** Cut the subscriber connections, and change something before the gateway can connect again. */
async function cutAnd(meanwhile: () => Promise<unknown>): Promise<void> {
  await until(async () => (await subscribers()) !== ''); // Connected again since the last cut.
  const killed = service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  const done = meanwhile();
  expect(await killed).toBeGreaterThan(0);
  await done;
}

type Pipeline = ReturnType<typeof service.redis.pipeline>;
const history = () => `${jobKey()}:events`;
/** Cut the subscriber connections and change something in one pipeline, before the gateway can connect again. */
const cutWith = (lose: (pipeline: Pipeline) => Pipeline) =>
  lose(service.redis.pipeline().call('CLIENT', 'KILL', 'TYPE', 'pubsub')).exec();

// On the connection that cuts, so that Redis executes them first and in this order.
const logsBehind = (count: number) => {
  const logs = Array.from({ length: count }, (_, n) => packLog({ message: `entry ${n}` }));
  return appendLogs(service.store, ANY_SPACE, id, logs);
};
const eventBehind = (data: string) => heartbeatJob(service.store, ANY_SPACE, id, { kind: 'event', data });

describe('job stream whose connection to Redis is cut', () => {
  it('a job stream sends every event and log entry once and in order, even after 20 cuts', async () => {
    const [full, anonymous] = [await openJob(), await open(`/${id}`)];
    for (let cut = 0; cut < 20; cut++) {
      await cutAnd(() =>
        Promise.all([
          ...[0, 1, 2].map((n) => post('event', `cut ${cut}, event ${n}`)),
          append(service, id, 3),
          append(service, id, 2),
        ]),
      );
      await post('progress', { percent: cut, message: `cut ${cut}` });
      await append(service, id, 1);
      // Half of the time the next cut comes before the gap is closed.
      if (cut % 2 === 0) await until(() => logSeqsOf(full).at(-1) === 6 * (cut + 1));
    }
    await post('complete', { result: 'whole' });
    await full.next('completed');
    await anonymous.next('completed');
    const { events } = (await service.call('GET', `/jobs/${id}`)).body;
    // As in the history, from the connection on: created, delivered and acked came before.
    const shown = full.messages.slice(1).filter(({ type }) => type !== 'logs_appended');
    expect(shown.map(({ type, data, timestamp }) => ({ type, data, createdAt: timestamp }))).toEqual(
      events.slice(3).map(({ type, data, createdAt }: Record<string, unknown>) => ({ type, data, createdAt })),
    );
    expect(shown).toHaveLength(20 * 4 + 1);
    expect(logSeqsOf(full)).toEqual(seqs(1, 20 * 6));
    expect(full.types().at(-1)).toBe('completed');
    expect(anonymous.messages.map(({ type, data }) => [type, data?.percent])).toEqual([
      ['init', undefined],
      ...Array.from({ length: 20 }, (_, cut) => ['progress', cut]),
      ['completed', undefined],
    ]);
    expect(full.closed).toBeNull();
  });

  it('a job stream that was cut sends a missed event even if no event follows', async () => {
    const client = await openJob();
    await cutAnd(() => eventBehind('missed'));
    expect(await client.next('event')).toMatchObject({ data: 'missed' });
  });

  it('a job stream that was cut sends missed logs in one message even if no event follows', async () => {
    const client = await openJob();
    await append(service, id, 2);
    await until(() => logSeqsOf(client).length === 2);
    await cutAnd(() => Promise.all([logsBehind(3), logsBehind(1), logsBehind(2)]));
    await until(() => logSeqsOf(client).length > 2);
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

  it('a job stream that was cut sends missed logs before the end of the job, together with logs after the end', async () => {
    const client = await openJob();
    await cutAnd(() =>
      Promise.all([
        logsBehind(2),
        eventBehind('one'),
        logsBehind(3),
        eventBehind('two'),
        completeJob(service.store, ANY_SPACE, id, 'end'),
        logsBehind(1),
      ]),
    );
    await client.next('completed');
    await append(service, id);
    await until(() => logSeqsOf(client).includes(7));
    expect(logSeqsOf(client)).toEqual(seqs(1, 7));
    expect(client.types().filter((type) => type !== 'event')).toEqual([
      'init',
      'logs_appended',
      'completed',
      'logs_appended',
    ]);
    expect(client.dataOf('event')).toEqual(['one', 'two']);
    // Earlier messages must not have the final status, although the job has ended.
    const before = client.messages.slice(0, client.types().indexOf('completed'));
    expect(before.map(({ status }) => status)).not.toContain('completed');
  });

  it('a job stream that was cut sends missed logs in the right place among hundreds of missed events', async () => {
    const client = await openJob();
    await writeHistory(service, id);
    const began = Date.now();
    const events = Array.from({ length: 250 }, (_, n) => JSON.stringify(['event', began + n, n]));
    // The log entry is as old as the 121st event.
    const log = JSON.stringify([began + 120, 2, 'missed']);
    await cutWith((pipeline) =>
      pipeline
        .rpush(history(), ...events)
        .rpush(`${jobKey()}:logs`, log)
        .eval(AGREE_WITH_LIST, 1, jobKey()),
    );
    await until(() => client.messages.length === 1 + 250 + 1);
    expect(client.messages.slice(1).map(({ type, data }) => (type === 'event' ? data : data.toSeq))).toEqual([
      ...seqs(0, 119),
      1,
      ...seqs(120, 249),
    ]);
  });

  it('a job stream is closed with 1012 if Redis comes up with a different last event before the init', async () => {
    await post('event', 'before');
    const client = await openJob();
    await cutWith((pipeline) => pipeline.rpop(history()).rpush(history(), `["event",${Date.now() + 1_000},"another"]`));
    expect(await client.end()).toEqual(MISSING);
    expect((await openJob()).messages[0]).toMatchObject({ type: 'init', status: 'running' });
  });

  /** Losses in Redis after a client has received events: `seen` of them, the last at `at`. */
  const LOSSES: [what: string, lose: (pipeline: Pipeline, at: number, seen: number) => Pipeline][] = [
    [
      'the history has dropped events that the client missed',
      (pipeline, _, seen) =>
        pipeline
          .rpush(history(), '["event",1,"dropped"]', '["event",2,"kept"]')
          .ltrim(history(), -1, -1)
          .eval(AGREE_WITH_LIST, 1, jobKey(), seen + 1),
    ],
    // As after a failover to a replica that was behind.
    [
      'Redis returns with fewer events than the client has received',
      (pipeline) => pipeline.rpop(history()).eval(AGREE_WITH_LIST, 1, jobKey()),
    ],
    [
      'Redis returns with other and more events than the client has received',
      (pipeline, at) =>
        pipeline
          .rpop(history())
          .rpush(history(), `["event",${at + 1_000},"another"]`, `["event",${at + 1_001},"more"]`)
          .eval(AGREE_WITH_LIST, 1, jobKey()),
    ],
    ['the job does not exist any more', (pipeline) => pipeline.flushall()],
  ];

  it.each(LOSSES)('a job stream is closed with 1012 when %s', async (_, lose) => {
    const client = await openJob();
    await post('event', 'seen');
    const { timestamp } = await client.next('event');
    const seen = await service.redis.llen(history());
    await cutWith((pipeline) => lose(pipeline, Date.parse(timestamp), seen));
    expect(await client.end()).toEqual(MISSING);
    expect(client.dataOf('event')).toEqual(['seen']);
  });
});

it('a job stream sends an event that it missed without being cut from the history, in order', async () => {
  const client = await openJob();
  await post('event', 'first');
  const { timestamp } = await client.next('event');
  // An event whose message Redis never published.
  await appendEvents(service.redis, jobKey(), `["event",${Date.parse(timestamp)},"unpublished"]`);
  await post('event', 'last');
  await until(() => client.dataOf('event').includes('last'));
  expect(client.dataOf('event')).toEqual(['first', 'unpublished', 'last']);
});

it('a job stream never repeats an old message', async () => {
  const [client, space] = [await openJob(), await openSpace()];
  await post('event', 'first');
  const message = await client.next('event');
  const old = JSON.stringify({ ...message, seq: 4, spaceId: 'cut', at: Date.parse(message.timestamp) });
  await service.redis.publish(service.store.keys.jobChannel(id), old);
  await post('event', 'later');
  await until(() => client.dataOf('event').includes('later') && space.dataOf('event').includes('later'));
  expect(client.dataOf('event')).toEqual(['first', 'later']);
});

it('closes a space stream with 1012 when its connection to Redis is cut, and the next stream works', async () => {
  const client = await openSpace();
  await cutAnd(() => eventBehind('missed'));
  expect(await client.end()).toEqual(MISSING);
  const next = await openSpace();
  await createJob(service, 'cut');
  expect(await next.next('created')).toMatchObject({ spaceId: 'cut', status: 'pending' });
});

it('closes space streams and keeps job streams complete when Redis restarts', async () => {
  const [client, space] = [await openJob(), await openSpace()];
  await post('event', 'before');
  await append(service, id, 2);
  await until(() => logSeqsOf(client).length === 2);
  await redis.halt();
  expect(await space.end()).toEqual(MISSING);
  await redis.resume();
  await until(async () => (await post('event', 'after')).status === 200);
  await append(service, id, 1);
  await until(() => logSeqsOf(client).includes(3));
  expect(client.dataOf('event')).toEqual(['before', 'after']);
  expect(logSeqsOf(client)).toEqual([1, 2, 3]);
  expect(await subscribers()).not.toBe('');
});

describe('gateway with the default Redis timeout', () => {
  const gateway = withGateway(service, { REDIS_TIMEOUT_SECONDS: undefined }, redis);

  it('streams of a space are closed and job streams stay complete when Redis hangs with its connections open', async () => {
    const [client, space] = [await openJob(gateway.url), await openSpace(gateway.url)];
    process.kill(redis.pid(), 'SIGSTOP');
    await space.end().finally(() => process.kill(redis.pid(), 'SIGCONT'));
    expect(space.closed).toEqual(MISSING);
    await until(async () => (await post('event', 'after')).status === 200);
    await until(() => client.dataOf('event').includes('after'));
    expect(client.closed).toBeNull();
  });
});
