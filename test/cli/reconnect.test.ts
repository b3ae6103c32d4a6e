import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { createJob, jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { type FlakyProxy, startFlakyProxy } from './flaky-proxy.js';
import { work } from './worker.js';
import { endAll, type Run, yardmaster } from './yardmaster.js';

let service: TestService;
let proxy: FlakyProxy;
const servers: http.Server[] = [];
beforeAll(async () => {
  service = await startService();
  proxy = await startFlakyProxy(service.url);
});
afterEach(() => {
  endAll();
  proxy.mend();
  for (const server of servers.splice(0)) server.close();
});
afterAll(async () => {
  await proxy.stop();
  await service.stop();
});

const LOST = 'connection lost (connection broken), connecting again';

async function watch(target: string[], key: string | null = ADMIN_KEY): Promise<Run> {
  const env = { YARDMASTER_URL: proxy.url, ...(key === null ? {} : { YARDMASTER_API_KEY: key }) };
  const run = yardmaster(['watch', ...target], env);
  await run.shows('init');
  return run;
}

async function lose(run: Run): Promise<void> {
  proxy.cut();
  await until(() => run.err().includes('connection lost'));
}

const initsOf = (run: Run) => run.lines().filter((line) => line.includes(' init '));

describe('a connection that is cut', () => {
  it('is made again, and the watch goes on to the end of the job', async () => {
    const id = await jobIn(service, 'running', 'cut');
    const run = await watch([id]);
    await lose(run);
    proxy.mend();
    await until(() => initsOf(run).length === 2);
    await work(service, id, 'progress', { percent: 90, message: 'Nearly' });
    await work(service, id, 'complete');

    expect(await run.exit()).toBe(0);
    expect(run.lines()).toEqual([
      'T init          running',
      'T init          running',
      'T progress      90% Nearly',
      'T completed',
    ]);
    expect(run.err().split('\n')[0]).toBe(LOST);
  });

  it.each([
    ['completed', 0],
    ['dead', 3],
    ['killed', 4],
  ] as const)('tells a job that is %s meanwhile, with exit code %i', async (status, code) => {
    const id = await jobIn(service, 'running', `meanwhile-${status}`, { maxRetries: 0 });
    const run = await watch([id]);
    await lose(run);
    if (status === 'completed') await work(service, id, 'complete');
    if (status === 'dead') await work(service, id, 'fail', { error: 'broken' });
    if (status === 'killed') await work(service, id, 'kill');
    proxy.mend();

    expect(await run.exit()).toBe(code);
    expect(run.lines()).toEqual(['T init          running', `T init          ${status}`]);
  });

  it('tells a client without a key of the completion that it missed', async () => {
    const id = await jobIn(service, 'running', 'missed');
    const run = await watch([id], null);
    await lose(run);
    await work(service, id, 'complete');
    proxy.mend();
    expect(await run.exit()).toBe(0);
    expect(run.lines().at(-1)).toBe('T completed');
  });

  it('leaves a gap in a space, and says so', async () => {
    const run = await watch(['--space', 'gap']);
    await lose(run);
    await createJob(service, 'gap', { name: 'unseen' });
    proxy.mend();
    await until(() => initsOf(run).length === 2);
    const { id } = await createJob(service, 'gap', { name: 'seen' });
    await run.shows('created');
    expect(run.lines()).toEqual(['T init          gap', 'T init          gap', `T created       ${id} seen`]);
    expect(run.err()).toContain(`${LOST}; what happens meanwhile is not shown\n`);
  });
});

/** A server of the test's own, which gets every upgrade. */
async function serve(onUpgrade: (request: http.IncomingMessage, socket: Duplex, head: Buffer) => void) {
  const server = http.createServer().on('upgrade', onUpgrade).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function refuse(socket: Duplex, status: string, error: string, headers = ''): void {
  const body = JSON.stringify({ error });
  socket.end(`HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

it('tries again while the server is away, and says so once', async () => {
  const upgrades: number[] = [];
  const wss = new WebSocketServer({ noServer: true });
  const url = await serve((request, socket, head) => {
    upgrades.push(performance.now());
    if (upgrades.length <= 2) {
      refuse(socket, '503 Service Unavailable', 'Storage did not answer', 'retry-after: 1\r\n');
      return;
    }
    wss.handleUpgrade(request, socket, head, (ws) => {
      const timestamp = '2026-01-01T00:00:00.000Z';
      ws.send(JSON.stringify({ jobId: 'job', type: 'init', status: 'running', timestamp }));
      ws.send(JSON.stringify({ jobId: 'job', type: 'killed', status: 'killed', data: { reason: null }, timestamp }));
    });
  });

  const run = yardmaster(['watch', 'job', '--url', url]);

  expect(await run.exit()).toBe(4);
  expect(run.err()).toBe(`no connection to ${url} (Storage did not answer), connecting again\n`);
  expect(upgrades).toHaveLength(3);
  const [first = 0, second = 0, third = 0] = upgrades;
  expect(Math.min(second - first, third - second)).toBeGreaterThanOrEqual(1000);
});

it('never prints the key, however the server quotes the address', async () => {
  const key = 'ym_id_se/cr=et!';
  const url = await serve(({ url: path = '' }, socket) => {
    refuse(socket, '404 Not Found', `${path} ${decodeURIComponent(path)} ${encodeURIComponent(key)}`);
  });

  const run = yardmaster(['watch', 'a/b', '--url', `${url}/base/`], { YARDMASTER_API_KEY: key });

  expect(await run.exit()).toBe(1);
  expect(run.err()).toBe('yardmaster: /base/api/v1/realtime/a%2Fb?token=… /base/api/v1/realtime/a/b?token=… …\n');
});
