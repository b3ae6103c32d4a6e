import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { movedBy, scrape } from './scrape.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ STREAMS_PER_JOB: '10' });
});
afterAll(() => service.stop());

const DURATION = 'yardmaster_http_request_duration_seconds';
const series = (method: string, route: string, status: number) =>
  `${DURATION}_count{method="${method}",route="${route}",status="${status}"}`;
/** What the scrape before counts, once it is answered. */
const SCRAPE = { [series('GET', '/metrics', 200)]: 1 };

const requests = (act: () => Promise<unknown>) => movedBy(service, DURATION, act);

/** Send these bytes, and read until the connection ends. */
function sendRaw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    socket.write(bytes);
  });
}

it('counts each answer by the pattern of its path, its method and its status', async () => {
  const { id } = await createJob(service, 'counted');
  const moved = await requests(async () => {
    await service.call('POST', '/spaces/counted/jobs', { body: {} });
    await service.call('GET', `/jobs/${id}`);
    await service.call('GET', `/jobs/${id}?a=b`, { key: undefined });
    await service.call('HEAD', `/jobs/${id}`);
    await service.call('OPTIONS', `/jobs/${id}`);
    await service.http.call('GET', '/livez');
    await service.http.call('GET', '/readyz');
  });
  expect(moved).toEqual({
    ...SCRAPE,
    [series('POST', '/api/v1/spaces/:spaceId/jobs', 400)]: 1,
    [series('GET', '/api/v1/jobs/:jobId', 200)]: 1,
    [series('GET', '/api/v1/jobs/:jobId', 401)]: 1,
    [series('HEAD', '/api/v1/jobs/:jobId', 200)]: 1,
    [series('OPTIONS', '/api/v1/jobs/:jobId', 204)]: 1,
    [series('GET', '/livez', 200)]: 1,
    [series('GET', '/readyz', 200)]: 1,
  });
});

it('knows every route', async () => {
  const moved = await requests(async () => {
    for (const { method, path } of ROUTES) {
      await service.http.call(method, path.replace(':spaceId', '!').replace(/:\w+/, 'x'));
    }
  });
  const routes = Object.keys(moved).map((name) => /method="(\w+)",route="([^"]+)"/.exec(name)?.slice(1).join(' '));
  expect(routes.sort()).toEqual([...ROUTES.map(({ method, path }) => `${method} ${path}`), 'GET /metrics'].sort());
});

it('counts what is refused before it is known for which route', async () => {
  const moved = await requests(async () => {
    await service.http.call('GET', '/api/v1/jobs/%zz');
    await sendRaw('GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n');
    await sendRaw('nonsense\r\n\r\n');
    await sendRaw(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`);
  });
  expect(moved).toEqual({
    ...SCRAPE,
    [series('GET', 'none', 400)]: 2,
    [series('other', 'none', 400)]: 1,
    [series('other', 'none', 431)]: 1,
  });
});

it('counts a request whose body is broken once', async () => {
  const head = `POST /api/v1/spaces/x/jobs HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\n`;
  const chunked = 'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nno chunk\r\n';
  const moved = await requests(async () => {
    expect(await sendRaw(head + chunked)).toContain('400 Bad Request');
  });
  expect(moved).toEqual({ ...SCRAPE, [series('POST', '/api/v1/spaces/:spaceId/jobs', 400)]: 1 });
});

it('counts requests whose clients were gone before the answer as 499, also those behind another one', async () => {
  const { hostname, port } = new URL(service.url);
  const waits = `POST /api/v1/spaces/gone/jobs HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`;
  const pipelined = 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n';
  const count = async (route: string) => (await scrape(service)).get(series('POST', route, 499)) ?? 0;
  const route = '/api/v1/spaces/:spaceId/jobs';
  const before = await count(route);
  const sockets: Socket[] = [];
  for (const bytes of [waits, pipelined + waits]) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    sockets.push(socket);
  }
  const livez = series('GET', '/livez', 200);
  await until(async () => ((await scrape(service)).get(livez) ?? 0) > 0);
  for (const socket of sockets) socket.resetAndDestroy();
  await until(async () => (await count(route)) === before + 2);
});

it('counts handshakes, accepted and refused, by what the stream is of', async () => {
  const { id } = await createJob(service, 'streamed');
  const job = '/api/v1/realtime/:jobId';
  const space = '/api/v1/realtime/spaces/:spaceId';
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const headers = { ...upgrade, 'sec-websocket-key': Buffer.alloc(16).toString('base64') };
  const moved = await requests(async () => {
    const client = await StreamClient.open(service.url, `/${id}`);
    await client.close();
    await service.http.call('GET', `/api/v1/realtime/${id}?token=wrong`, { headers });
    await service.http.call('GET', '/api/v1/realtime/spaces/streamed', { headers });
    await service.http.call('GET', '/api/v1/realtime/a/b/c', { headers });
    await service.http.call('GET', `/api/v1/realtime/${id}`);
    await service.http.call('POST', `/api/v1/realtime/${id}`);
  });
  expect(moved).toEqual({
    ...SCRAPE,
    [series('GET', job, 101)]: 1,
    [series('GET', job, 401)]: 1,
    [series('GET', space, 401)]: 1,
    [series('GET', 'unknown', 404)]: 1,
    [series('GET', job, 426)]: 1,
    [series('other', job, 405)]: 1,
  });
});

it('has a bounded number of series, whatever is sent', async () => {
  const methods = ['PUT', 'PATCH', 'TRACE', 'PROPFIND', 'M-SEARCH', 'PURGE', 'LINK', 'QUERY'];
  const hostile = async (round: number) => {
    for (const method of methods) {
      for (const path of ['/api/v1/keys', `/${method}/${round}`, `/api/v1/jobs/${round}"\\n{}`]) {
        await service.http.call(method, encodeURI(path)).catch(() => undefined);
      }
    }
    for (let n = 0; n < 50; n++) {
      await service.call('GET', `/spaces/s${round}-${n}/jobs`);
      await service.call('GET', `/jobs/${round}-${n}`);
      await service.http.call('GET', `/${'x'.repeat(n)}/${round}`);
    }
  };
  const seriesNow = async () => [...(await scrape(service)).keys()].filter((name) => name.startsWith(DURATION)).length;
  await hostile(1);
  const before = await seriesNow();
  await hostile(2);
  expect(await seriesNow()).toBe(before);
  const other = [...(await scrape(service)).keys()].filter((name) => name.includes('method="other"'));
  expect(new Set(other.map((name) => /status="(\d+)"/.exec(name)?.[1]))).toEqual(new Set(['400', '404', '405', '431']));
});

it('answers a scrape in the text format of Prometheus, to HEAD without the body, and to nothing else', async () => {
  const got = await service.http.call('GET', '/metrics');
  expect(got.headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': String(Buffer.byteLength(got.text)),
  });
  expect(got.text).toContain('\nyardmaster_build_info{version="0.1.0"} 1\n');
  const head = await service.http.call('HEAD', '/metrics');
  expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' });
  expect(head.headers['content-type']).toBe(got.headers['content-type']);
});

it('shows no job, no key and no value that somebody made up', async () => {
  const { id } = await createJob(service, 'secretive', { name: 'name-of-a-job', payload: { pay: 'load-of-a-job' } });
  const { id: keyId, key } = await service.key(['jobs:read']);
  await service.call('GET', `/jobs/${id}`, { key });
  const { text } = await service.http.call('GET', '/metrics');
  for (const secret of [id, keyId, key, ADMIN_KEY, 'name-of-a-job', 'load-of-a-job'])
    expect(text).not.toContain(secret);
});
