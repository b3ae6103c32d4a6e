import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { byLabel, movedSince, scrape } from './scrape.js';

let redis: OwnRedis;
let service: TestService;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({}, { redisUrl: redis.url });
});
afterAll(async () => {
  try {
    await service.stop();
  } finally {
    await redis.stop();
  }
});

const clients: StreamClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await until(async () => Object.values(await openNow()).every((count) => count === 0));
});

async function open(path: string): Promise<StreamClient> {
  const client = await StreamClient.open(service.url, path);
  clients.push(client);
  return client;
}
const openNow = async () => byLabel(await scrape(service), 'yardmaster_streams_open');
const TOKEN = `token=${ADMIN_KEY}`;

/** Which closes are counted while something is done, once there are so many. */
async function closesBy(count: number, act: () => Promise<unknown>): Promise<Record<string, number>> {
  const metric = 'yardmaster_stream_closes_total';
  const before = await scrape(service);
  await act();
  let moved: Record<string, number> = {};
  await until(async () => {
    moved = movedSince(before, await scrape(service), metric);
    return Object.values(moved).reduce((sum, by) => sum + by, 0) === count;
  });
  return Object.fromEntries(Object.entries(moved).map(([name, by]) => [/code="(\w+)"/.exec(name)?.[1], by]));
}

it('shows the streams that are open by audience, and the channels that are heard', async () => {
  const id = await jobIn(service, 'running', 'open');
  const before = (await scrape(service)).get('yardmaster_subscriptions') as number;
  await open(`/${id}`);
  await open(`/${id}`);
  await open(`/${id}?${TOKEN}`);
  await open(`/spaces/open?${TOKEN}`);
  const after = await scrape(service);
  expect(byLabel(after, 'yardmaster_streams_open')).toEqual({ full: 1, progress: 2, space: 1 });
  expect(after.get('yardmaster_subscriptions')).toBe(before + 2);
});

it('counts each message sent', async () => {
  const id = await jobIn(service, 'running', 'sent');
  const metric = 'yardmaster_stream_messages_sent_total';
  const before = await scrape(service);
  const full = await open(`/${id}?${TOKEN}`);
  const progress = await open(`/${id}`);
  await service.call('POST', `/jobs/${id}/checkpoint`, { body: 1 });
  await service.call('POST', `/jobs/${id}/progress`, { body: { percent: 1, message: 'x' } });
  await Promise.all([full, progress].map((client) => client.next('progress')));
  // Two inits, one checkpoint, two reports of progress.
  expect(movedSince(before, await scrape(service), metric)).toEqual({ [metric]: 5 });
});

it('shows the bytes that wait for a client that does not read', async () => {
  const id = await jobIn(service, 'running', 'slow');
  const client = await open(`/${id}?${TOKEN}`);
  const buffered = async () => (await scrape(service)).get('yardmaster_stream_buffered_bytes') as number;
  expect(await buffered()).toBe(0);
  client.ws.pause();
  const text = 'x'.repeat(60_000);
  await until(async () => {
    await service.call('POST', `/jobs/${id}/event`, { body: text });
    return (await buffered()) > 60_000;
  });
  client.ws.terminate();
  await until(async () => (await buffered()) === 0);
});

it('counts how streams end: by us', async () => {
  const { id: keyId, key } = await service.key(['jobs:read']);
  const job = await jobIn(service, 'running', 'ends');
  const slow = await jobIn(service, 'running', 'too-slow');
  const closes = await closesBy(3, async () => {
    await open(`/spaces/ends?token=${key}`);
    const stuck = await open(`/${slow}?${TOKEN}`);
    const chatty = await open(`/${job}`);
    await service.call('DELETE', `/keys/${keyId}`);
    chatty.ws.send('x'.repeat(2_000));
    stuck.ws.pause();
    for (let n = 0; n < 300; n++) await service.call('POST', `/jobs/${slow}/event`, { body: 'x'.repeat(60_000) });
    stuck.ws.terminate();
  });
  expect(closes).toEqual({ 1008: 1, 1009: 1, 1013: 1 });
});

it('counts how streams end: by their clients', async () => {
  const job = await jobIn(service, 'running', 'leaves');
  const closes = await closesBy(5, async () => {
    const [polite, plain, gone, odd, bad] = await Promise.all(Array.from({ length: 5 }, () => open(`/${job}`)));
    polite?.ws.close(1000);
    plain?.ws.close();
    gone?.ws.terminate();
    odd?.ws.close(4_321);
    // A text frame that is no UTF-8.
    bad?.ws.send(Buffer.from([0xff]), { binary: false });
  });
  expect(closes).toEqual({ 1000: 1, 1005: 1, 1006: 1, 1007: 1, other: 1 });
});

it('counts the gaps when Redis goes away, and what that costs', async () => {
  const job = await jobIn(service, 'running', 'gap');
  await open(`/${job}`);
  await open(`/spaces/gap?${TOKEN}`);
  const before = await scrape(service);
  const held = before.get('yardmaster_subscriptions') as number;
  const closes = await closesBy(1, async () => {
    await redis.halt();
    await until(async () => (await scrape(service)).get('yardmaster_redis_connected{use="subscriber"}') === 0);
    expect(byLabel(await scrape(service), 'yardmaster_redis_connected')).toEqual({
      commands: 0,
      bulk: 0,
      subscriber: 0,
      worker: 0,
    });
    await redis.resume();
  });
  expect(closes).toEqual({ 1012: 1 });
  const gaps = movedSince(before, await scrape(service), 'yardmaster_subscription_gaps_total');
  expect(gaps).toEqual({ yardmaster_subscription_gaps_total: held });
  await until(async () => Object.values(byLabel(await scrape(service), 'yardmaster_redis_connected')).every(Boolean));
});
