import { expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { createJob } from '../support/jobs.js';
import { RawClient, sendRaw } from '../support/raw-client.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { VERSION } from '../support/version.js';
import { movedBy, scrape } from './scrape.js';

const service = withService({}, { isOwn: true });

const DURATION = 'yardmaster_http_request_duration_seconds';
const series = (method: string, route: string, status: number) =>
  `${DURATION}_count{method="${method}",route="${route}",status="${status}"}`;
/** The scrape before the act, which is counted once it has its response. */
const SCRAPE = { [series('GET', '/metrics', 200)]: 1 };
const CREATE = '/api/v1/spaces/:spaceId/jobs';

const requests = (act: () => Promise<unknown>) => movedBy(service, DURATION, act);

it('counts each response by the pattern of its path, its method and its status', async () => {
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
    [series('POST', CREATE, 400)]: 1,
    [series('GET', '/api/v1/jobs/:jobId', 200)]: 1,
    [series('GET', '/api/v1/jobs/:jobId', 401)]: 1,
    [series('HEAD', '/api/v1/jobs/:jobId', 200)]: 1,
    [series('OPTIONS', '/api/v1/jobs/:jobId', 204)]: 1,
    [series('GET', '/livez', 200)]: 1,
    [series('GET', '/readyz', 200)]: 1,
  });
});

it('counts every route by its pattern', async () => {
  const moved = await requests(async () => {
    for (const { method, path } of ROUTES) {
      await service.http.call(method, path.replace(':spaceId', '!').replace(/:\w+/, 'x'));
    }
  });
  const routes = Object.keys(moved).map((name) => /method="(\w+)",route="([^"]+)"/.exec(name)?.slice(1).join(' '));
  expect(routes.sort()).toEqual([...ROUTES.map(({ method, path }) => `${method} ${path}`), 'GET /metrics'].sort());
});

it('counts a request once if it is refused before it has a route, or for an invalid body', async () => {
  const chunked = 'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nno chunk\r\n';
  const moved = await requests(async () => {
    await service.http.call('GET', '/api/v1/jobs/%zz');
    for (const bytes of [
      'GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n',
      'nonsense\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      `POST /api/v1/spaces/x/jobs HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\n${chunked}`,
    ]) {
      await sendRaw(service.url, bytes);
    }
  });
  expect(moved).toEqual({
    ...SCRAPE,
    [series('GET', 'none', 400)]: 2,
    [series('other', 'none', 400)]: 1,
    [series('other', 'none', 431)]: 1,
    [series('POST', CREATE, 400)]: 1,
  });
});

it('counts invalid input after a request once, however many bytes follow', async () => {
  const create = `POST /api/v1/spaces/x/jobs HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\n`;
  const valid = `${create}content-type: application/json\r\ncontent-length: 15\r\n\r\n{"name":"work"}`;
  const moved = await requests(async () => {
    // The server reads it in many pieces, and none of them is a request.
    await sendRaw(service.url, `${valid}nonsense\r\n\r\n${'x'.repeat(4_000_000)}`);
  });
  expect(moved).toEqual({ ...SCRAPE, [series('POST', CREATE, 201)]: 1, [series('other', 'none', 400)]: 1 });
});

it('counts requests whose clients disconnect before the response as 499, even behind another request', async () => {
  // The client leaves once the server has asked for the body, without sending it.
  const head = `POST /api/v1/spaces/gone/jobs HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\nexpect: 100-continue\r\n`;
  const waits = `${head}content-type: application/json\r\ncontent-length: 9\r\n\r\n`;
  const count = async () => (await scrape(service)).get(series('POST', CREATE, 499)) ?? 0;
  const before = await count();
  for (const bytes of [waits, `GET /livez HTTP/1.1\r\nhost: x\r\n\r\n${waits}`]) {
    const { socket } = new RawClient(service.url);
    let text = '';
    socket.on('data', (chunk) => (text += chunk)).write(bytes);
    await until(() => text.includes('HTTP/1.1 100 Continue'));
    socket.resetAndDestroy();
  }
  await until(async () => (await count()) === before + 2);
});

it('counts accepted and refused handshakes by the kind of stream', async () => {
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

it('keeps a bounded number of series, whatever clients send', async () => {
  const methods = ['PUT', 'PATCH', 'TRACE', 'PROPFIND', 'M-SEARCH', 'PURGE', 'LINK', 'QUERY'];
  const sendHostile = async (round: number) => {
    for (const method of methods) {
      for (const path of ['/api/v1/keys', `/${method}/${round}`, `/api/v1/jobs/${round}"\\n{}`]) {
        await service.http.call(method, encodeURI(path)).catch(() => undefined);
      }
    }
    for (let n = 0; n < 10; n++) {
      await service.call('GET', `/spaces/s${round}-${n}/jobs`);
      await service.call('GET', `/jobs/${round}-${n}`);
      await service.http.call('GET', `/${'x'.repeat(n)}/${round}`);
    }
  };
  const seriesNow = async () => [...(await scrape(service)).keys()].filter((name) => name.startsWith(DURATION));
  await sendHostile(1);
  const before = (await seriesNow()).length;
  await sendHostile(2);
  expect(await seriesNow()).toHaveLength(before);
  const other = (await seriesNow()).filter((name) => name.includes('method="other"'));
  expect(new Set(other.map((name) => /status="(\d+)"/.exec(name)?.[1]))).toEqual(new Set(['400', '404', '405', '431']));
});

it('responds to a scrape in the text format of Prometheus, and to HEAD without the body', async () => {
  const got = await service.http.call('GET', '/metrics');
  expect(got.headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': String(Buffer.byteLength(got.text)),
  });
  expect(got.text).toContain(`\nyardmaster_build_info{version="${VERSION}"} 1\n`);
  const head = await service.http.call('HEAD', '/metrics');
  expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-type': got.headers['content-type'] } });
});

it('shows no IDs, keys, names or payloads in a scrape', async () => {
  const { id } = await createJob(service, 'secretive', { name: 'name-of-a-job', payload: { pay: 'load-of-a-job' } });
  const { id: keyId, key } = await service.key(['jobs:read']);
  await service.call('GET', `/jobs/${id}`, { key });
  const { text } = await service.http.call('GET', '/metrics');
  for (const secret of [id, keyId, key, ADMIN_KEY, 'name-of-a-job', 'load-of-a-job'])
    expect(text).not.toContain(secret);
});
