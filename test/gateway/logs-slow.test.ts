import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { jobIn, writeHistory } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { append, seqs, toldTo } from './logs.js';

// Of this file's own: it cuts connections of whoever subscribes.
let redis: OwnRedis;
let service: TestService;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({ EVENTS_PER_JOB: '10000' }, { redisUrl: redis.url });
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
});

let id: string;
let client: StreamClient;
beforeEach(async () => {
  id = await jobIn(service, 'running', 'slow');
  client = await StreamClient.open(service.url, `/${id}?token=${ADMIN_KEY}`);
});
afterEach(() => client.ws.terminate());

const post = async (verb: string, body: unknown) => {
  const { status } = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  expect(status).toBe(200);
};
const eventsOf = ({ messages }: StreamClient) => messages.filter(({ type }) => type === 'event');

/** 50 KB each: the sockets of client and server hold some megabytes before anything waits in the process. */
const LARGE = 'x'.repeat(50_000);
const ENOUGH = 300;

it('tells a slow client of all logs, while it thins progress out', async () => {
  client.ws.pause();
  for (let n = 0; n < ENOUGH; n++) {
    await post('progress', { percent: n / 10, message: LARGE });
    if (n % 50 === 49) for (let batch = 0; batch < 50; batch++) await append(service, id, 2);
  }
  await post('complete', { result: 'end' });
  client.ws.resume();
  await client.next('completed');
  expect(toldTo(client)).toEqual(seqs(1, ENOUGH * 2));
  expect(client.types().at(-1)).toBe('completed');
  expect(client.types().filter((type) => type === 'progress').length).toBeLessThan(ENOUGH);
}, 60_000);

it('gives up a client that does not read, and tells the one that comes instead of what is new', async () => {
  client.ws.pause();
  for (let n = 0; n < ENOUGH; n++) {
    await post('event', LARGE);
    await append(service, id);
  }
  client.ws.resume();
  expect([1006, 1013]).toContain((await client.end()).code);
  const told = toldTo(client);
  expect(told).toEqual(seqs(1, told.length));
  const next = await StreamClient.open(service.url, `/${id}?token=${ADMIN_KEY}`);
  await append(service, id);
  await next.next('logs_appended');
  expect(toldTo(next)).toEqual([ENOUGH + 1]);
  await next.close();
}, 60_000);

it('tells of logs that are appended while a client catches up with 5 000 events', async () => {
  await writeHistory(service, id);
  const at = Date.now();
  const missed = Array.from({ length: 5_000 }, (_, n) => JSON.stringify(['event', at, n]));
  // In one go: nobody can be back in between.
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpush(`${service.store.keys.job(id)}:events`, ...missed)
    .exec();
  let last = 0;
  const during = new Set<number>();
  while (eventsOf(client).length < missed.length) {
    last = (await append(service, id, 2)).toSeq;
    during.add(eventsOf(client).length);
  }
  await post('event', 5_000);
  await post('complete', { result: 'end' });
  await client.next('completed');
  expect(eventsOf(client).map(({ data }) => data)).toEqual(seqs(0, 5_000));
  expect(toldTo(client)).toEqual(seqs(1, last));
  expect(client.types().at(-1)).toBe('completed');
  // Appended before it, in the midst of it and at its end.
  expect(during.size).toBeGreaterThan(2);
}, 60_000);
