import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { infos, logs, numbered, printed } from './logs.js';
import { endAll } from './yardmaster.js';

const servers: http.Server[] = [];
afterEach(() => {
  endAll();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A service of the test's own, which answers the nth request for logs, from 0. */
async function serve(answer: (nth: number, request: http.IncomingMessage, response: http.ServerResponse) => void) {
  const askedAt: number[] = [];
  const server = http.createServer((request, response) => {
    answer(askedAt.length, request, response);
    askedAt.push(performance.now());
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { server, askedAt, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A page of entries 1 to `count`, of those above `after`. */
function page(after: number, count: number): string {
  const logs = numbered(count, 1).map((message, i) => ({
    id: `job.${i + 1}`,
    seq: i + 1,
    level: 'info',
    message,
    source: 'worker',
    metadata: {},
    loggedAt: '2026-01-01T00:00:00.000Z',
    createdAt: '2026-01-01T00:00:00.000Z',
  }));
  return JSON.stringify({
    logs: logs.slice(after),
    cursor: { mode: 'after', oldestSeq: after + 1, newestSeq: count, hasMore: false },
  });
}

it('asks again after answers that a later request may not get, not before it may, and says so once', async () => {
  const { url, askedAt } = await serve((nth, _request, response) => {
    if (nth === 0) response.writeHead(503, { 'retry-after': '1' }).end('{"error":"Storage did not answer"}');
    else if (nth === 1) response.writeHead(429, { 'retry-after': '1' }).end('{"error":"Slow down"}');
    else if (nth === 2) {
      // It breaks off in the middle of the answer.
      response.writeHead(200, { 'content-length': page(0, 3).length }).write(page(0, 3).slice(0, 200));
      setImmediate(() => response.destroy());
    } else response.end(page(0, 3));
  });
  const run = logs({ url }, ['job']);
  expect([await run.exit(), printed(run)]).toEqual([0, infos(numbered(3))]);
  expect(run.err()).toBe(`no connection to ${url} (Storage did not answer), connecting again\n`);
  const [first = 0, second = 0, third = 0] = askedAt;
  expect(Math.min(second - first, third - second)).toBeGreaterThanOrEqual(1000);
});

it('gives up after --timeout while it waits for a service that is away', async () => {
  const { url } = await serve((_nth, _request, response) => {
    response.writeHead(503, { 'retry-after': '3600' }).end();
  });
  const run = logs({ url }, ['job', '--timeout', '1']);
  expect([await run.exit(), run.out()]).toEqual([124, '']);
  expect(run.err()).toBe(
    `no connection to ${url} (the server answered with HTTP 503), connecting again\n` +
      'yardmaster: gave up after 1 s\n',
  );
});

it('gives up after --timeout while it waits for an answer', async () => {
  const { url } = await serve(() => undefined);
  const run = logs({ url }, ['job', '--timeout', '1']);
  expect([await run.exit(), run.out(), run.err()]).toEqual([124, '', 'yardmaster: gave up after 1 s\n']);
});

it.each([
  ['a page of a proxy', 200, '<html>Welcome</html>', 'the server answered with something that is no page of logs'],
  ['JSON of something else', 200, '{"logs":7}', 'the server answered with something that is no page of logs'],
  ['an error of the service', 500, '{"error":"Unexpected error"}', 'Unexpected error'],
  ['a bare status', 404, '', 'the server answered with HTTP 404'],
  ['a sentence with escapes', 400, '{"error":"a\\u001b[2J\\nb\\u202e"}', 'a b'],
])('exits with 1 on %s', async (_, status, body, sentence) => {
  const { url, askedAt } = await serve((_nth, _request, response) => {
    response.writeHead(status).end(body);
  });
  const run = logs({ url }, ['job']);
  expect([await run.exit(), run.out(), run.err()]).toEqual([1, '', `yardmaster: ${sentence}\n`]);
  expect(askedAt).toHaveLength(1);
});

it('never prints the key, however the server quotes what it was asked', async () => {
  const key = 'ym_id_se/cr=et!';
  const { url } = await serve((_nth, { url: path, headers }, response) => {
    const error = `${path} ${headers['x-api-key']} ${encodeURIComponent(key)}`;
    response.writeHead(404).end(JSON.stringify({ error }));
  });
  const run = logs({ url: `${url}/base/` }, ['a/b'], { YARDMASTER_API_KEY: key });
  expect(await run.exit()).toBe(1);
  expect(run.err()).toBe('yardmaster: /base/api/v1/jobs/a%2Fb/logs?limit=500&after=0 … …\n');
});

it('exits with 5 when the stream ends without a word of how the job did', async () => {
  const { url, server } = await serve((_nth, { url: path }, response) => {
    response.end(page(Number(new URL(path as string, url).searchParams.get('after')), 2));
  });
  const wss = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => wss.handleUpgrade(request, socket, head, (ws) => ws.close(1000)));
  const run = logs({ url }, ['job', '--follow']);
  expect([await run.exit(), printed(run)]).toEqual([5, infos(numbered(2))]);
});
