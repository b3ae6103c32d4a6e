import { readFileSync } from 'node:fs';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { jobIn } from '../support/jobs.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

let service: TestService;
let gateway: RunningProcess;
let url: string;
beforeAll(async () => {
  service = await startService();
  gateway = runApp('gateway', {
    PORT: '0',
    REDIS_URL: process.env.TEST_REDIS_URL,
    KEY_PREFIX: service.prefix,
    ADMIN_API_KEY: ADMIN_KEY,
  });
  await until(() => /"url":"([^"]+)"/.test(gateway.output()));
  url = /"url":"([^"]+)"/.exec(gateway.output())?.[1] as string;
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
  await service.stop();
});

let id: string;
const clients: StreamClient[] = [];
beforeEach(async () => {
  id = await jobIn(service, 'running', 'slow');
});
afterEach(() => {
  for (const { ws } of clients.splice(0)) ws.terminate();
});

async function open(path: string): Promise<StreamClient> {
  const client = await StreamClient.open(url, path);
  clients.push(client);
  return client;
}

/** A client that took its init and never reads again. */
async function openStuck(path: string): Promise<StreamClient> {
  const client = await open(path);
  client.ws.pause();
  return client;
}

const full = () => `/${id}?token=${ADMIN_KEY}`;
const space = `/spaces/slow?token=${ADMIN_KEY}`;
const post = (verb: string, body: unknown) => service.call('POST', `/jobs/${id}/${verb}`, { body });

/** 60 KB each: the sockets of client and server hold some megabytes before anything waits in the process. */
const LARGE = 'x'.repeat(60_000);
const ENOUGH = 400;

const residentMegabytes = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8'))?.[1]) / 1024;

const openSockets = async () => {
  const [, count] = (await service.redis.call('PUBSUB', 'NUMSUB', service.store.keys.jobChannel(id))) as [
    string,
    number,
  ];
  return count;
};

it('cuts off clients that never read, shows the others everything, and holds little for either', async () => {
  const stuck = await Promise.all(Array.from({ length: 40 }, (_, n) => openStuck(n % 2 ? full() : space)));
  const [watcher, spaceWatcher] = [await open(full()), await open(space)];
  const before = residentMegabytes();
  let highest = before;
  for (let n = 0; n < ENOUGH; n++) {
    expect((await post('event', { n, LARGE })).status).toBe(200);
    highest = Math.max(highest, residentMegabytes());
  }
  const last = (client: StreamClient) => client.messages.at(-1)?.data?.n;
  await until(() => last(watcher) === ENOUGH - 1 && last(spaceWatcher) === ENOUGH - 1);
  expect(watcher.messages.map(({ data }) => data?.n)).toEqual([undefined, ...Array(ENOUGH).keys()]);
  // 24 MB were sent; each of forty that read nothing may keep 1 MB, and shares it with the others.
  expect(highest - before).toBeLessThan(100);

  // They find out when they read again: what was on its way, and then the end of it, whole or cut off.
  for (const client of stuck) client.ws.resume();
  for (const client of stuck) expect([1006, 1013]).toContain((await client.end()).code);
  expect(await openSockets()).toBe(1); // The watcher's.
}, 60_000);

it('thins progress out to the latest for a client that is slow, and keeps all else, in order', async () => {
  const slow = await openStuck(full());
  // Fill the sockets, and then some: from here on something waits in the process.
  const message = 'x'.repeat(50_000);
  let sent = 0;
  const report = async (count: number) => {
    for (const end = sent + count; sent < end; sent++)
      expect((await post('progress', { percent: sent / 10, message })).status).toBe(200);
  };
  await report(300);
  await post('checkpoint', 'between');
  await report(300);
  await post('complete', { result: 'end' });
  slow.ws.resume();
  await slow.next('completed');
  const types = slow.types();
  const reports = slow.messages.filter(({ type }) => type === 'progress').map(({ data }) => data.percent);
  expect(reports.length).toBeLessThan(sent);
  expect(reports).toEqual([...reports].sort((a, b) => a - b));
  // The latest before each message that is no progress, and nothing but progress is missing.
  const checkpoint = types.indexOf('checkpoint');
  expect(slow.messages[checkpoint - 1]?.data.percent).toBe(29.9);
  expect(slow.messages.at(-2)?.data.percent).toBe(59.9);
  expect(types.filter((type) => type !== 'progress')).toEqual(['init', 'checkpoint', 'completed']);
  expect(slow.closed).toBeNull();
}, 60_000);

it('gives up a client that pings without end and never reads', async () => {
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
}, 60_000);
