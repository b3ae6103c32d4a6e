import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createApiServer } from '@yardmaster/api';
import { createStreams } from '@yardmaster/gateway';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { createHttpService, createServerContext } from '@yardmaster/server';
import { STANDALONE_VARIABLES } from '@yardmaster/standalone';
import { WebSocket } from 'ws';
import { during } from '../support/during.js';
import { HttpClient } from '../support/http.js';
import { createJob } from '../support/jobs.js';
import { startNginx } from '../support/nginx.js';
import { ADMIN_KEY, sharedService } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { startApi, untilWaiting } from '../waiting/api.js';
import { type Site, startSite } from './site.js';

const sockets: WebSocket[] = [];
afterEach(() => {
  for (const ws of sockets.splice(0)) ws.terminate();
});

/** Open a stream from an address of this machine. Its outcome is 101 after the init, or the status of a refusal. */
function open(url: string, path: string, localAddress = '127.0.0.1', headers = {}) {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/api/v1/realtime/${path}`, { localAddress, headers });
  sockets.push(ws);
  ws.on('error', () => undefined); // The outcome or `close` reports it.
  const outcome = new Promise<number>((resolve, reject) => {
    ws.once('message', () => resolve(101));
    ws.once('unexpected-response', (_, response) => {
      resolve(response.statusCode as number);
      response.destroy();
    });
    ws.once('error', reject);
  });
  return { ws, outcome };
}

describe('nginx in front of the service', () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite({ STREAMS_PER_ADDRESS: '1' });
  });
  afterAll(() => site?.stop()); // Undefined if the start failed.

  it('nginx passes the address of the client to the gateway, and ignores forged headers', async () => {
    const id = await site.job();
    expect(await open(site.nginx.url, id, '127.0.0.1').outcome).toBe(101);
    expect(await open(site.nginx.url, id, '127.0.0.1', { 'x-forwarded-for': '192.0.2.7' }).outcome).toBe(429);
    expect(await open(site.nginx.url, id, '127.0.0.2').outcome).toBe(101);
  });

  it('nginx writes no token to any log, even while the gateway is down', async () => {
    const token = await site.key('jobs:read');
    const path = `spaces/${site.spaceId}?token=${token}`;
    const { ws, outcome } = open(site.nginx.url, path);
    expect(await outcome).toBe(101);
    ws.close();
    await site.haltGateway();
    expect(await open(site.nginx.url, path).outcome).toBe(502);
    await site.startGateway();
    expect(await open(site.nginx.url, `${path}wrong`).outcome).toBe(401);

    const logged = () => site.nginx.log('access');
    const lines = [101, 502, 401].map((status) => `"GET /api/v1/realtime/spaces/${site.spaceId}" ${status} `);
    await until(async () => {
      const log = await logged();
      return lines.every((line) => log.includes(line));
    });
    const all = [await logged(), await site.nginx.log('error')];
    expect([...all, site.gatewayLog()].filter((text) => text.includes(token.slice(-16)))).toEqual([]);
    expect(site.gatewayLog()).toContain('stream refused');
  });

  it('nginx lets the API refuse bodies that are too large, and hides probes', async () => {
    const http = new HttpClient(site.nginx.url);
    const large = await http.call('POST', '/api/v1/spaces/demo/jobs', { key: ADMIN_KEY, raw: 'x'.repeat(1_500_000) });
    expect([large.status, large.body.code]).toEqual([413, 'TOO_LARGE']);
    expect((await http.call('GET', '/readyz')).status).toBe(404);
    const plain = await http.call('GET', '/api/v1/realtime/x');
    expect([plain.status, plain.body.code, plain.headers.upgrade]).toEqual([426, 'UPGRADE_REQUIRED', 'websocket']);
    http.close();
  });
});

describe('nginx in front of an idle stream', () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** Start API and gateway in one process with this ping interval, behind an nginx with a timeout of 1 s. */
  async function openQuiet(pingMs: number): Promise<WebSocket> {
    const env = {
      PORT: '0',
      ADMIN_API_KEY: ADMIN_KEY,
      KEY_PREFIX: `t-${randomUUID().slice(0, 8)}`,
      LOG_LEVEL: 'silent',
    };
    const config = { ...readConfig(env, STANDALONE_VARIABLES), REDIS_URL: sharedService().redisUrl };
    const log = createLogger('test', config.LOG_LEVEL);
    const context = createServerContext(config, log);
    const streams = createStreams({ context, config, log, pingMs });
    const server = createApiServer({ context, config, log, streams });
    const httpService = createHttpService({ name: 'test', context, server, streams, config, log });
    await httpService.start();
    ends.push(() => httpService.stop(10_000));
    const address = httpService.url().replace('http://', '');
    const changes = { 'proxy_read_timeout 75s;': 'proxy_read_timeout 1s;' };
    const nginx = await startNginx({ api: [address], gateway: [address] }, { changes });
    ends.push(() => nginx.stop());
    const { ws, outcome } = open(nginx.url, `spaces/quiet?token=${ADMIN_KEY}`);
    expect(await outcome).toBe(101);
    return ws;
  }

  it('nginx keeps an idle stream open while the gateway sends pings', async () => {
    const ws = await openQuiet(200);
    let pings = 0;
    ws.on('ping', () => pings++);
    const openedAt = performance.now();
    await until(() => pings >= 15 || ws.readyState !== WebSocket.OPEN);
    expect(ws.readyState).toBe(WebSocket.OPEN);
    expect(performance.now() - openedAt).toBeGreaterThan(2_000);
  });

  it('nginx closes an idle stream when the gateway sends no pings', async () => {
    const [code] = await once(await openQuiet(60_000), 'close');
    expect(code).toBe(1006);
  });
});

// Polls that wait behind nginx, as in docs/nginx.conf.

const api = during(
  () => startApi({ prefix: `t-${randomUUID().slice(0, 8)}` }),
  (started) => started.stop(),
);
const nginx = during(
  () => startNginx({ api: [new URL(api.url).host], gateway: [new URL(api.url).host] }),
  (started) => started.stop(),
);

/**
 * Poll on a new connection.
 *
 * @returns a function that closes it, and the IDs of the returned jobs; null without a response
 */
function pollAlone(spaceId: string) {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };
  const url = `${nginx.url}/api/v1/spaces/${spaceId}/jobs/poll`;
  const call = request(url, { method: 'POST', agent: false, headers });
  const ids = new Promise<string[] | null>((resolve) => {
    call.on('error', () => resolve(null));
    call.on('response', async (response) => {
      const chunks = await response.toArray().catch(() => null);
      resolve(chunks && JSON.parse(Buffer.concat(chunks).toString()).jobs.map(({ id }: { id: string }) => id));
    });
  });
  call.end(JSON.stringify({ waitSeconds: 20 }));
  return { ids, close: () => call.destroy() };
}

it('returns jobs only to polls whose connections to nginx are open, whenever others were closed', async () => {
  const polls = Array.from({ length: 40 }, () => pollAlone('left'));
  const [staying, leaving] = [polls.slice(0, 10), polls.slice(10)];
  // From before the request is sent until long after the poll starts to wait.
  await Promise.all(
    leaving.map(async ({ close }, i) => {
      for (let turns = 0; turns < 20 * i; turns++) await turn();
      close();
    }),
  );
  expect((await fetch(`${nginx.url}/api/v1/info`)).status).toBe(200); // nginx has handled what came before.
  await untilWaiting(api, staying.length);
  const created: string[] = [];
  for (const _ of staying) created.push((await createJob(api, 'left')).id);
  const received = await Promise.all(staying.map(({ ids }) => ids));
  expect(received.flat().sort()).toEqual(created.sort());
  expect(await Promise.all(leaving.map(({ ids }) => ids))).toEqual(leaving.map(() => null));
  const { jobs } = (await api.call('GET', '/spaces/left/stats')).body;
  expect(jobs).toMatchObject({ pending: 0, delivered: staying.length });
});
