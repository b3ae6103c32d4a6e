import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { jobIn, writeHistory } from '../support/jobs.js';
import { ADMIN_KEY } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { holdCommand, holdReply, type LateReplies, startLateReplies } from './late-replies.js';
import { append, entries, seqs, toldTo } from './logs.js';

// A gap of a job stream is closed by reading what was missed. That moment, too short to be hit by chance, is held open here.

let late: LateReplies;
beforeAll(async () => {
  late = await startLateReplies();
});
afterAll(() => late.stop());

let id: string;
const clients: StreamClient[] = [];
beforeEach(async () => {
  id = await jobIn(late.service, 'running', 'catching-up');
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const post = (verb: string, body?: unknown) => late.service.call('POST', `/jobs/${id}/${verb}`, { body });

async function open(): Promise<StreamClient> {
  const client = await StreamClient.open(late.url, `/${id}?token=${ADMIN_KEY}`);
  clients.push(client);
  return client;
}

/** Let an event and some log entries come of which nobody is told, and another event, which shows that one is missing. */
async function leaveGap(count: number): Promise<void> {
  const { redis, store } = late.service;
  const job = store.keys.job(id);
  await writeHistory(late.service, id);
  await redis.rpush(`${job}:events`, JSON.stringify(['event', Date.now(), 'unheard']));
  await redis.rpush(`${job}:logs`, ...entries(count));
  await post('event', 'shows the gap');
}

const eventsOf = ({ messages }: StreamClient) =>
  messages.filter(({ type }) => type === 'event').map(({ data }) => data);

const WAYS_TO_HOLD: [what: string, hold: typeof holdReply][] = [
  ['what is read does not have', holdReply],
  ['what is read has too', holdCommand],
];

it.each(WAYS_TO_HOLD)('tells once of logs that come while a gap is closed, and that %s', async (_, hold) => {
  const { service, backend } = late;
  const client = await open();
  hold(backend.store.bulk, 'evalsha', async () => {
    await append(service, id, 2);
    await append(service, id, 1);
    await late.untilHeard();
  });
  await leaveGap(2);
  await until(() => toldTo(client).includes(5));
  await append(service, id, 1);
  await until(() => toldTo(client).includes(6));
  expect(toldTo(client)).toEqual(seqs(1, 6));
  expect(eventsOf(client)).toEqual(['unheard', 'shows the gap']);
});

it.each(WAYS_TO_HOLD)('tells of logs before the end that came after them, and that %s', async (_, hold) => {
  const { service, backend } = late;
  const client = await open();
  hold(backend.store.bulk, 'evalsha', async () => {
    await append(service, id, 2);
    await post('complete', { result: 'last' });
    await late.untilHeard();
  });
  await leaveGap(3);
  await client.next('completed');
  expect(toldTo(client)).toEqual([1, 2, 3, 4, 5]);
  expect(eventsOf(client)).toEqual(['unheard', 'shows the gap']);
  expect(client.types().at(-1)).toBe('completed');
});

it('tells of logs before the end that came after them, though others came after it', async () => {
  const { service, backend } = late;
  const client = await open();
  holdCommand(backend.store.bulk, 'evalsha', async () => {
    await append(service, id, 2);
    await post('complete', { result: 'last' });
    const { updatedAt } = (await service.call('GET', `/jobs/${id}`)).body;
    await until(async () => (await redisNow(service.store)) > Date.parse(updatedAt));
    await append(service, id, 1);
    await late.untilHeard();
  });
  await leaveGap(2);
  await until(() => client.types().includes('completed') && toldTo(client).includes(5));
  expect(toldTo(client)).toEqual([1, 2, 3, 4, 5]);
  const before = client.messages.slice(0, client.types().indexOf('completed'));
  expect(before.findLast(({ type }) => type === 'logs_appended')?.data.toSeq).toBeGreaterThanOrEqual(4);
});

it('tells of all logs when more messages come than are kept while a gap is closed', async () => {
  const { service, backend } = late;
  const client = await open();
  holdReply(backend.store.bulk, 'evalsha', async () => {
    for (let n = 0; n < 300; n++) await append(service, id, 1);
    await late.untilHeard();
  });
  await leaveGap(2);
  await until(() => toldTo(client).includes(302));
  expect(toldTo(client)).toEqual(seqs(1, 302));
});

it('tells a client that comes while a gap is closed for another of no more than it misses', async () => {
  const { service, backend } = late;
  const first = await open();
  let second: StreamClient | undefined;
  holdReply(backend.store.bulk, 'evalsha', async () => {
    second = await open();
    await append(service, id, 1);
    await late.untilHeard();
  });
  await leaveGap(2);
  await until(() => second !== undefined && toldTo(second).includes(3) && toldTo(first).includes(3));
  expect([toldTo(first), toldTo(second as StreamClient)]).toEqual([[1, 2, 3], [3]]);
  expect([eventsOf(first), eventsOf(second as StreamClient)]).toEqual([['unheard', 'shows the gap'], []]);
});

it('goes on telling when the connection is lost while a gap is closed', async () => {
  const { service, backend } = late;
  const client = await open();
  holdReply(backend.store.bulk, 'evalsha', async () => {
    await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await append(service, id, 2);
    await until(() => backend.subscriptions.hears(service.store.keys.jobChannel(id)));
  });
  await leaveGap(2);
  await until(() => toldTo(client).includes(4));
  expect(toldTo(client)).toEqual([1, 2, 3, 4]);
  expect(client.closed).toBeNull();
});

it('tells a client that joins while a gap is closed of the logs before the end, before the end', async () => {
  const { service, backend } = late;
  const first = await open();
  let isReading = false;
  let joining: Promise<StreamClient> | null = null;
  // The gap is closed for the first client by a read that knows the end; the second has joined when it is over.
  holdReply(backend.store.bulk, 'evalsha', async () => {
    isReading = true;
    await joining;
  });
  // The second begins from before the gap.
  holdReply(backend.store.redis, 'evalsha', async () => {
    await service.redis.rpush(`${service.store.keys.job(id)}:logs`, ...entries(2));
    await writeHistory(service, id);
    await service.redis.rpush(`${service.store.keys.job(id)}:events`, JSON.stringify(['event', Date.now(), 'unheard']));
    await post('kill', { reason: 'enough' });
    await until(() => isReading);
  });
  joining = open();
  const second = await joining;
  for (const client of [first, second]) {
    await client.next('killed');
    expect(client.types().filter((type) => type !== 'event')).toEqual(['init', 'logs_appended', 'killed']);
    expect(toldTo(client)).toEqual(seqs(1, 2));
  }
});
