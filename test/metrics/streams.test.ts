import { afterEach, expect, it } from '@jest/globals';
import { CLOSE_CODES } from '@yardmaster/protocol';
import type { WebSocket } from 'ws';
import { jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { byLabel, movedSince, scrape } from './scrape.js';

const redis = withRedis();
const KEY_PREFIX = 'metrics';
const service = withService({ KEY_PREFIX }, { redis, app: 'api' });
const gateway = withService({ KEY_PREFIX }, { redis, app: 'gateway', check: false });

const open = withStreams(gateway);
// Registered after `withStreams`, which closes the streams of a test.
afterEach(() => until(async () => Object.values(await openNow()).every((count) => count === 0)));

const openNow = async () => byLabel(await scrape(gateway), 'yardmaster_streams_open');
const value = async (name: string) => (await scrape(gateway)).get(name) as number;
const TOKEN = `token=${ADMIN_KEY}`;

/** Call a function, wait until `count` closes are counted, and return them by code. */
async function closesBy(count: number, act: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await scrape(gateway);
  await act();
  let moved: Record<string, number> = {};
  await until(async () => {
    moved = movedSince(before, await scrape(gateway), 'yardmaster_stream_closes_total');
    return Object.values(moved).reduce((sum, by) => sum + by, 0) === count;
  });
  return Object.fromEntries(Object.entries(moved).map(([name, by]) => [/code="(\w+)"/.exec(name)?.[1], by]));
}

it('reads a job from Redis once per new stream of that job', async () => {
  const id = await jobIn(service, 'running', 'reads');
  await open(`/${id}`);
  const before = await scrape(gateway);
  await open(`/${id}`);
  const calls = movedSince(before, await scrape(gateway), 'yardmaster_redis_request_duration_seconds_count');
  expect(calls).toEqual({ 'yardmaster_redis_request_duration_seconds_count{call="snapshot"}': 1 });
});

it('shows the open streams by audience and the subscribed channels, and counts the messages sent', async () => {
  const id = await jobIn(service, 'running', 'open');
  const before = await scrape(gateway);
  const paths = [`/${id}`, `/${id}`, `/${id}?${TOKEN}`, `/spaces/open?${TOKEN}`];
  const clients = await Promise.all(paths.map((path) => open(path)));
  expect(await openNow()).toEqual({ full: 1, progress: 2, space: 1 });
  expect(movedSince(before, await scrape(gateway), 'yardmaster_subscriptions')).toEqual({
    yardmaster_subscriptions: 2,
  });

  await service.call('POST', `/jobs/${id}/checkpoint`, { body: 1 });
  await service.call('POST', `/jobs/${id}/progress`, { body: { percent: 1, message: 'x' } });
  await Promise.all(clients.map((client) => client.next('progress')));
  // Four inits, two checkpoints, four progress messages.
  const sent = 'yardmaster_stream_messages_sent_total';
  expect(movedSince(before, await scrape(gateway), sent)).toEqual({ [sent]: 10 });
});

it('shows the bytes that wait for a client that does not read', async () => {
  const id = await jobIn(service, 'running', 'slow');
  const client = await open(`/${id}?${TOKEN}`);
  const buffered = () => value('yardmaster_stream_buffered_bytes');
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

it('shows every close code of the gateway, even those that it has not used yet', async () => {
  const shown = byLabel(await scrape(gateway), 'yardmaster_stream_closes_total');
  expect(Object.keys(shown)).toEqual(expect.arrayContaining(Object.values(CLOSE_CODES).map(String)));
});

it('counts streams by the close code of the gateway', async () => {
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

it('counts streams by the close code of the client, or by the fault of the client', async () => {
  const job = await jobIn(service, 'running', 'leaves');
  const closes = await closesBy(6, async () => {
    for (const leave of [
      (ws) => ws.close(1000),
      (ws) => ws.close(),
      (ws) => ws.terminate(),
      (ws) => ws.close(4_321),
      (ws) => ws.send(Buffer.from([0xff]), { binary: false }), // A text frame that is not UTF-8.
      (ws) => ws.send('unmasked', { mask: false }),
    ] satisfies ((ws: WebSocket) => void)[])
      leave((await open(`/${job}`)).ws);
  });
  expect(closes).toEqual({ 1000: 1, 1002: 1, 1005: 1, 1006: 1, 1007: 1, other: 1 });
});

it('counts a gap for each channel when Redis goes down, and the space streams that the gateway then closes', async () => {
  await open(`/${await jobIn(service, 'running', 'gap')}`);
  await open(`/spaces/gap?${TOKEN}`);
  const before = await scrape(gateway);
  const isConnected = () => value('yardmaster_redis_connected{use="subscriber"}');
  const closes = await closesBy(1, async () => {
    await redis.halt();
    await until(async () => (await isConnected()) === 0);
    await redis.resume();
  });
  expect(closes).toEqual({ 1012: 1 });
  const gaps = movedSince(before, await scrape(gateway), 'yardmaster_subscription_gaps_total');
  expect(gaps).toEqual({ yardmaster_subscription_gaps_total: before.get('yardmaster_subscriptions') });
  await until(async () => (await isConnected()) === 1);
});
