import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jobIn, writeHistory } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { subscribe } from '../support/subscribe.js';
import { until } from '../support/until.js';
import { append, entries, toldTo } from './logs.js';

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
  id = await jobIn(service, 'running', 'gaps');
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

const MISSING = { code: 1012, reason: 'messages may be missing' };

const logsKey = () => `${service.store.keys.job(id)}:logs`;

/** Make something happen, and return its message as it was published. */
async function published(happen: () => Promise<unknown>): Promise<string> {
  const listener = service.redis.duplicate();
  const heard = new Promise<string>((resolve) => listener.on('message', (_, text) => resolve(text)));
  await subscribe(listener, service.store.keys.jobChannel(id));
  await happen();
  const message = await heard;
  listener.disconnect();
  return message;
}

it('tells each client of what it misses itself', async () => {
  const early = await openFull();
  await append(service, id, 2);
  // Nobody is told of these, and whoever comes then begins behind them.
  await service.redis.rpush(logsKey(), ...entries(3));
  const late = await openFull();
  const lateProgress = await open(`/${id}`);
  await append(service, id, 1);
  await until(() => [early, late].every((client) => toldTo(client).includes(6)));
  expect([toldTo(early), toldTo(late)]).toEqual([[1, 2, 3, 4, 5, 6], [6]]);
  expect(lateProgress.types()).toEqual(['init']);
});

it('tells of missed logs that the cap has dropped meanwhile', async () => {
  const client = await openFull();
  await append(service, id, 2);
  await until(() => toldTo(client).length === 2);
  // In one go, so that nobody can be back in between: five more, of which all but the last are dropped.
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpush(logsKey(), ...entries(5))
    .ltrim(logsKey(), -1, -1)
    .hset(service.store.keys.job(id), 'logsDropped', 6)
    .exec();
  await until(() => toldTo(client).length > 2);
  expect(toldTo(client)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

it('closes with 1012 when Redis comes back with fewer logs than a client was told of', async () => {
  const client = await openFull();
  await append(service, id, 3);
  await until(() => toldTo(client).length === 3);
  // As after a failover to a replica that lagged behind.
  await service.redis.rpop(logsKey());
  await service.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  expect(await client.end()).toEqual(MISSING);
  const next = await openFull();
  expect(await append(service, id)).toMatchObject({ fromSeq: 3 });
  expect(await next.next('logs_appended')).toMatchObject({ data: { fromSeq: 3, toSeq: 3, count: 1 } });
});

describe('a gap without a cut', () => {
  it('is closed, in order', async () => {
    const client = await openFull();
    await append(service, id, 2);
    // Entries of which Redis never passed the message on.
    await service.redis.rpush(logsKey(), ...entries(2));
    await append(service, id, 2);
    await until(() => toldTo(client).includes(6));
    expect(toldTo(client)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('never makes an old message come again', async () => {
    const client = await openFull();
    const message = await published(() => append(service, id, 2));
    await append(service, id, 1);
    await service.redis.publish(service.store.keys.jobChannel(id), message);
    await append(service, id, 1);
    await until(() => toldTo(client).includes(4));
    expect(toldTo(client)).toEqual([1, 2, 3, 4]);
  });
});

it('tells of what happened before an append before it, though nobody heard of either', async () => {
  const client = await openFull();
  // An event and an entry that nobody is told of, and then one that somebody is.
  await writeHistory(service, id);
  await service.redis.rpush(`${service.store.keys.job(id)}:events`, '["event",1,"unheard"]');
  await service.redis.rpush(logsKey(), ...entries(1));
  await append(service, id, 1);
  await until(() => toldTo(client).includes(2));
  await until(() => client.types().includes('event'));
  expect(client.types()).toEqual(['init', 'event', 'logs_appended']);
  expect(client.messages.at(-1)?.data).toEqual({ fromSeq: 1, toSeq: 2, count: 2 });
});
