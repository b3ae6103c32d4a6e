import { beforeEach, describe, expect, it } from '@jest/globals';
import { delayReply, withInProcessGateway } from '../gateway/gateway.js';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { type StreamClient, withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

// The stream of a space with COMPAT=emit.

const { service, gateway } = withInProcessGateway(undefined, { COMPAT: 'emit' });
const open = withStreams(gateway);
const plain = withService();
const openPlain = withStreams(plain);

let space: string;
let spaces = 0;
beforeEach(() => {
  space = `emit-${++spaces}`;
});

const openSpace = async (query = '') => {
  const client = await open(`/spaces/${space}?token=${ADMIN_KEY}${query}`);
  await client.next('connected');
  return client;
};

const COUNTS = { scheduled: 0, pending: 0, delivered: 0, running: 0, completed: 0, dead: 0, killed: 0 };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
const ID = expect.stringMatching(/^[\da-f-]{36}$/);

/** Wait for this many messages after `connected`, and return their type, seq and counts. */
async function shown({ messages }: StreamClient, count: number) {
  await until(() => messages.length >= count + 2);
  return messages.slice(2).map(({ type, seq, counts }) => [type, seq, counts]);
}

/** Numbers of the messages after `connected` so far. */
const numbersOf = ({ messages }: StreamClient) => messages.slice(2).map(({ seq }) => seq);

/** Have the gateway lose all its subscriptions. */
async function loseSubscriptions() {
  const witness = await open(`/spaces/witness?token=${ADMIN_KEY}`);
  await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect((await witness.end()).code).toBe(1012);
}

/** Stop reading, so that the gateway closes the stream but keeps its channel, and cuts it off some seconds later. */
const stopReading = ({ ws }: StreamClient) => ws.pause();

it('sends a new client of a space the current seq and all seven counts after the init', async () => {
  await jobIn(service, 'scheduled', space);
  await jobIn(service, 'running', space);
  for (const status of ['killed', 'killed', 'dead'] as const) await jobIn(service, status, space);
  const { messages } = await openSpace();
  expect(messages).toEqual([
    { spaceId: space, type: 'init', timestamp: TIME },
    {
      spaceId: space,
      type: 'connected',
      seq: 0,
      streamInstanceId: ID,
      missed: false,
      counts: { ...COUNTS, scheduled: 1, running: 1, killed: 2, dead: 1 },
      timestamp: messages[0].timestamp,
    },
  ]);
});

it('numbers each message of a space, and adds the counts to those that change a status', async () => {
  const client = await openSpace();
  const { id } = await createJob(service, space, { maxRetries: 0 });
  await shown(client, 1);
  const steps: [verb: string, body?: unknown][] = [
    ['claim'],
    ['ack'],
    ['progress', { percent: 1, message: 'x' }],
    ['checkpoint', 7],
    ['event', 'half-way'],
    ['logs', { logs: ['a line'] }],
    ['release', {}],
    ['claim'],
    ['ack'],
    ['fail', { error: 'broken' }],
  ];
  for (const [n, [verb, body]] of steps.entries()) {
    await step(service, id, verb, body);
    await shown(client, n + 2);
  }
  expect(await shown(client, 11)).toEqual([
    ['created', 1, { ...COUNTS, pending: 1 }],
    ['delivered', 2, { ...COUNTS, delivered: 1 }],
    ['acked', 3, { ...COUNTS, running: 1 }],
    ['progress', 4, undefined],
    ['checkpoint', 5, undefined],
    ['event', 6, undefined],
    ['logs_appended', 7, undefined],
    ['released', 8, { ...COUNTS, pending: 1 }],
    ['delivered', 9, { ...COUNTS, delivered: 1 }],
    ['acked', 10, { ...COUNTS, running: 1 }],
    ['dead', 11, { ...COUNTS, dead: 1 }],
  ]);
  expect(client.messages[2]).toEqual({
    jobId: id,
    jobName: 'work',
    spaceId: space,
    type: 'created',
    status: 'pending',
    data: null,
    timestamp: TIME,
    seq: 1,
    counts: { ...COUNTS, pending: 1 },
  });
});

it('shows on the stream of a space that a job is scheduled', async () => {
  const client = await openSpace();
  await createJob(service, space, { delaySeconds: 60 });
  expect(await client.next('created')).toMatchObject({ status: 'scheduled', counts: { ...COUNTS, scheduled: 1 } });
});

it('sends all clients of a space the same numbers', async () => {
  const first = await openSpace();
  await createJob(service, space);
  await shown(first, 1);
  const second = await openSpace();
  await createJob(service, space);
  expect(second.messages[1]).toMatchObject({ seq: 1, streamInstanceId: first.messages[1].streamInstanceId });
  expect([(await shown(first, 2))[1], (await shown(second, 1))[0]]).toEqual(
    Array(2).fill(['created', 2, { ...COUNTS, pending: 2 }]),
  );
});

it('tells a client that reconnects whether it has missed messages', async () => {
  const watching = await openSpace();
  await createJob(service, space);
  await createJob(service, space);
  await shown(watching, 2);
  const { streamInstanceId } = watching.messages[1];
  const missed: Record<string, boolean> = {};
  const queries = [
    '',
    '&since=2',
    `&since=2&streamInstanceId=${streamInstanceId}`,
    `&streamInstanceId=${streamInstanceId}`,
    '&since=1',
    `&since=1&streamInstanceId=${streamInstanceId}`,
    '&since=3',
    '&since=2&streamInstanceId=another',
    '&streamInstanceId=another',
    '&since=',
    '&since=two',
  ];
  for (const query of queries) missed[query] = (await openSpace(query)).messages[1].missed;
  expect(missed).toEqual(Object.fromEntries(queries.map((query, i) => [query, i > 3])));
});

it('generates a new instance ID after a time without clients of the space', async () => {
  const first = await openSpace();
  const { streamInstanceId } = first.messages[1];
  await first.close();
  await until(() => !gateway.context.subscriptions.isSubscribed(service.store.keys.spaceChannel(space)));
  const second = await openSpace(`&since=0&streamInstanceId=${streamInstanceId}`);
  expect(second.messages[1]).toMatchObject({ seq: 0, streamInstanceId: ID, missed: true });
});

describe('while the jobs are counted', () => {
  type Evalsha = (...args: unknown[]) => Promise<unknown>;

  /** Count the scripts that the gateway runs. */
  function countCalls() {
    const { redis } = gateway.context.store;
    const original = redis.evalsha.bind(redis) as Evalsha;
    const counter = { calls: 0, stop: () => Object.assign(redis, { evalsha: original }) };
    Object.assign(redis, {
      evalsha: (...args: unknown[]) => {
        counter.calls++;
        return original(...args);
      },
    });
    return counter;
  }

  it('keeps messages in order while jobs are counted, and counts once for all that arrive during that', async () => {
    const client = await openSpace();
    const counter = countCalls();
    const ids: string[] = [];
    delayReply(gateway.context.store.redis, 'evalsha', async () => {
      for (let n = 0; n < 20; n++) {
        const id = await jobIn(service, 'running', space);
        await step(service, id, 'event', n);
        ids.push(id);
      }
      await gateway.untilReceived();
    });
    const { id } = await createJob(service, space);
    await until(() => client.dataOf('event').length === 20);
    counter.stop();
    expect(counter.calls).toBe(2);
    const all = { ...COUNTS, pending: 1, running: 20 };
    expect(client.messages.slice(2).map(({ jobId, type }) => [jobId, type])).toEqual([
      [id, 'created'],
      ...ids.flatMap((one) => ['created', 'delivered', 'acked', 'event'].map((type) => [one, type])),
    ]);
    expect(numbersOf(client)).toEqual(Array.from({ length: 81 }, (_, i) => i + 1));
    expect(client.messages.slice(3)).toEqual(
      client.messages.slice(3).map((message) => ({ ...message, counts: message.type === 'event' ? undefined : all })),
    );
  });

  it('a stream of a space counts jobs once for all jobs of a poll', async () => {
    for (let n = 0; n < 10; n++) await createJob(service, space);
    const client = await openSpace();
    const counter = countCalls();
    await service.call('POST', `/spaces/${space}/jobs/poll`, { body: { count: 10 } });
    const messages = await shown(client, 10);
    counter.stop();
    expect(messages).toEqual(messages.map((_, i) => ['delivered', i + 1, { ...COUNTS, delivered: 10 }]));
    expect(counter.calls).toBe(1);
  });

  it('starts a client that connects during a count exactly between the messages that it missed and the next ones', async () => {
    const first = await openSpace();
    let second: StreamClient | undefined;
    delayReply(gateway.context.store.redis, 'evalsha', async () => {
      second = await openSpace();
    });
    await createJob(service, space);
    await until(() => second !== undefined);
    expect((second as StreamClient).messages[1]).toMatchObject({ seq: 0, counts: { ...COUNTS, pending: 1 } });
    const message = ['created', 1, { ...COUNTS, pending: 1 }];
    expect([await shown(first, 1), await shown(second as StreamClient, 1)]).toEqual([[message], [message]]);
  });

  it('sends a client that connects after a lost subscription no earlier messages', async () => {
    const first = await openSpace();
    let second: StreamClient | undefined;
    delayReply(gateway.context.store.redis, 'evalsha', async () => {
      await createJob(service, space);
      await gateway.untilReceived();
      stopReading(first);
      await loseSubscriptions();
      second = await openSpace();
    });
    await createJob(service, space);
    await until(() => second !== undefined);
    const { id } = await createJob(service, space);
    await until(() => (second as StreamClient).messages.some(({ jobId }) => jobId === id));
    expect(await shown(second as StreamClient, 1)).toEqual([['created', 1, { ...COUNTS, pending: 3 }]]);
    first.ws.resume();
    await first.end();
    expect(numbersOf(first)).toEqual([]);
  });

  it('closes streams of a space with 1012 when Redis fails to count, and starts a new instance', async () => {
    const client = await openSpace();
    await createJob(service, space);
    await shown(client, 1);
    const slow = await openSpace();
    stopReading(slow);
    const { redis } = gateway.context.store;
    const original = redis.evalsha.bind(redis);
    redis.evalsha = (() => {
      redis.evalsha = original;
      return Promise.reject(new Error('Connection is closed.'));
    }) as never;
    await createJob(service, space);
    expect((await client.end()).code).toBe(1012);
    expect(numbersOf(client)).toEqual([1]);
    const { streamInstanceId } = client.messages[1];
    const again = await openSpace(`&since=0&streamInstanceId=${streamInstanceId}`);
    expect(again.messages[1]).toMatchObject({ seq: 0, missed: true, counts: { ...COUNTS, pending: 2 } });
    expect(again.messages[1].streamInstanceId).not.toBe(streamInstanceId);
  });
});

it('starts a new instance of a space stream when the subscription was lost', async () => {
  const client = await openSpace();
  const { streamInstanceId } = client.messages[1];
  stopReading(client);
  await loseSubscriptions();
  const again = await openSpace(`&since=0&streamInstanceId=${streamInstanceId}`);
  expect(again.messages[1]).toMatchObject({ seq: 0, missed: true });
});

it('COMPAT=emit does not change the messages of job streams', async () => {
  const id = await jobIn(service, 'running', space);
  const client = await open(`/${id}?token=${ADMIN_KEY}`);
  await step(service, id, 'event', 1);
  const event = await client.next('event');
  expect(Object.keys(event).sort()).toEqual(['data', 'jobId', 'jobName', 'status', 'timestamp', 'type']);
  expect(client.types()).toEqual(['init', 'event']);
});

it('sends no seq and no counts without COMPAT=emit, whatever the client requests', async () => {
  const client = await openPlain(`/spaces/plain?token=${ADMIN_KEY}&since=7&streamInstanceId=another`);
  await createJob(plain, 'plain');
  const created = await client.next('created');
  expect(client.types()).toEqual(['init', 'created']);
  expect(Object.keys(created)).not.toEqual(expect.arrayContaining(['seq']));
  expect(Object.keys(created)).not.toEqual(expect.arrayContaining(['counts']));
});
