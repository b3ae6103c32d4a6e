import { readFileSync } from 'node:fs';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { withGateway } from '../gateway/gateway.js';
import { append, logSeqsOf, seqs } from '../gateway/logs.js';
import { AGREE_WITH_LIST } from '../support/job-state.js';
import { jobIn, writeHistory } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

// A Redis of its own, because the tests cut subscriber connections.
const redis = withRedis();
const service = withService({ EVENTS_PER_JOB: '10000' }, { redis });
const gateway = withGateway(service, {}, redis);

let id: string;
const clients: StreamClient[] = [];
beforeEach(async () => {
  id = await jobIn(service, 'running', 'slow');
});
afterEach(() => {
  for (const { ws } of clients.splice(0)) ws.terminate();
});

async function open(path: string): Promise<StreamClient> {
  const client = await StreamClient.open(gateway.url, path);
  clients.push(client);
  return client;
}

/** Open a stream, and stop reading after the init. */
async function openStuck(path: string): Promise<StreamClient> {
  const client = await open(path);
  client.ws.pause();
  return client;
}

const full = () => `/${id}?token=${ADMIN_KEY}`;
const space = `/spaces/slow?token=${ADMIN_KEY}`;
async function post(verb: string, body: unknown): Promise<void> {
  const { status } = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  expect(status).toBe(200);
}

/** 60 KB each: the sockets buffer some megabytes before anything waits in the process. */
const LARGE = 'x'.repeat(60_000);
const ENOUGH = 400;

const residentMegabytes = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8'))?.[1]) / 1024;

it('the gateway disconnects clients that never read, sends everything to the others, and uses little memory', async () => {
  // Together less than the 256 MB that may wait for all clients.
  const stuck = await Promise.all(Array.from({ length: 10 }, (_, n) => openStuck(n % 2 ? full() : space)));
  const [watcher, spaceWatcher] = [await open(full()), await open(space)];
  const before = residentMegabytes();
  let highest = before;
  for (let n = 0; n < ENOUGH; n++) {
    await post('event', { n, LARGE });
    if (n % 10 === 0) await append(service, id);
    highest = Math.max(highest, residentMegabytes());
  }
  const last = ENOUGH / 10;
  const isDone = (client: StreamClient) => client.dataOf('event').length === ENOUGH;
  await until(() => isDone(watcher) && isDone(spaceWatcher));
  expect(watcher.dataOf('event').map(({ n }) => n)).toEqual([...Array(ENOUGH).keys()]);
  expect(logSeqsOf(watcher)).toEqual(seqs(1, last));
  // 24 MB were sent; 1 MB may wait for each client that does not read, and clients share messages.
  expect(highest - before).toBeLessThan(100);

  // When they read again, they get the buffered bytes and then the end, with or without a close frame.
  for (const client of stuck) client.ws.resume();
  for (const client of stuck) expect([1006, 1013]).toContain((await client.end()).code);
  const shown = logSeqsOf(stuck[1] as StreamClient);
  expect(shown).toEqual(seqs(1, shown.length));
  expect(shown.length).toBeLessThan(last);

  const next = await open(full());
  await append(service, id);
  await next.next('logs_appended');
  expect(logSeqsOf(next)).toEqual([last + 1]);
});

it('the gateway coalesces progress for a slow client, and sends everything else in order', async () => {
  const slow = await openStuck(full());
  // Fill the sockets, so that later messages wait in the process.
  let sent = 0;
  const report = async (count: number) => {
    for (const end = sent + count; sent < end; sent++) {
      await post('progress', { percent: sent / 10, message: LARGE.slice(10_000) });
      if (sent % 50 === 49) await append(service, id, 2);
    }
  };
  await report(299);
  await post('checkpoint', 'between');
  await report(299);
  await post('complete', { result: 'end' });
  slow.ws.resume();
  await slow.next('completed');
  const reports = slow.dataOf('progress').map(({ percent }) => percent);
  expect(reports.length).toBeLessThan(sent);
  expect(reports).toEqual([...reports].sort((a, b) => a - b));
  expect(logSeqsOf(slow)).toEqual(seqs(1, 22));
  // The latest progress comes before each other message, and only progress is missing.
  const checkpoint = slow.types().indexOf('checkpoint');
  expect(slow.messages[checkpoint - 1]?.data.percent).toBe(29.8);
  expect(slow.messages.at(-2)?.data.percent).toBe(59.7);
  const others = slow.types().filter((type) => type !== 'progress' && type !== 'logs_appended');
  expect(others).toEqual(['init', 'checkpoint', 'completed']);
  expect(slow.closed).toBeNull();
});

it('the gateway disconnects a client that keeps sending pings and never reads', async () => {
  const pinging = await openStuck(full());
  const before = residentMegabytes();
  while (pinging.ws.readyState === WebSocket.OPEN) {
    for (let n = 0; n < 1_000; n++) pinging.ws.ping('x'.repeat(100));
    await immediate();
  }
  expect(await pinging.end()).toMatchObject({ code: 1006 });
  const other = await open(full());
  await post('event', 'seen by the other');
  expect(await other.next('event')).toMatchObject({ data: 'seen by the other' });
  expect(residentMegabytes() - before).toBeLessThan(100);
});

it('the gateway sends logs that are appended while a client receives 5,000 missed events', async () => {
  const client = await open(full());
  await writeHistory(service, id);
  const at = Date.now();
  const missed = Array.from({ length: 5_000 }, (_, n) => JSON.stringify(['event', at, n]));
  // In one pipeline, before the gateway can connect again.
  await service.redis
    .pipeline()
    .call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    .rpush(`${service.store.keys.job(id)}:events`, ...missed)
    .eval(AGREE_WITH_LIST, 1, service.store.keys.job(id))
    .exec();
  let last = 0;
  while (client.dataOf('event').length < 5_000) last = (await append(service, id, 2)).toSeq;
  await post('event', 5_000);
  await post('complete', { result: 'end' });
  await client.next('completed');
  expect(client.dataOf('event')).toEqual(seqs(0, 5_000));
  expect(logSeqsOf(client)).toEqual(seqs(1, last));
  expect(client.types().at(-1)).toBe('completed');
});
