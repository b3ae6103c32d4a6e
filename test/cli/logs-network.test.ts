import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { type CountingProxy, startCountingProxy } from './counting-proxy.js';
import { type FlakyProxy, startFlakyProxy } from './flaky-proxy.js';
import { append, entriesOf, infos, isFollowed, logs, logsHere, numbered, printed } from './logs.js';
import { work } from './worker.js';
import { endAll } from './yardmaster.js';

const servers: http.Server[] = [];
let service: TestService;
let counter: CountingProxy;
let proxy: FlakyProxy;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  counter = await startCountingProxy(service.url);
  proxy = await startFlakyProxy(counter.url);
});
afterEach(async () => {
  endAll();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await proxy.stop();
  await counter.stop();
});
afterAll(() => service.stop());

const EMPTY = JSON.stringify({ logs: [], cursor: { mode: 'after', oldestSeq: 0, newestSeq: 0, hasMore: false } });
const timestamp = '2026-01-01T00:00:00.000Z';

/** A service of the test's own: answers requests, and sends the messages of its stream. */
async function serve(
  answer: http.RequestListener,
  onStream?: (send: (message: object) => void, ws: import('ws').WebSocket) => void,
) {
  const server = http.createServer(answer);
  const wss = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) =>
    wss.handleUpgrade(request, socket, head, (ws) => {
      onStream?.((message) => ws.send(JSON.stringify({ jobId: 'job', status: 'running', timestamp, ...message })), ws);
    }),
  );
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('waits for a service before which something takes connections and closes them at once', async () => {
  const id = await jobIn(service, 'completed', 'away');
  await append(service, id, numbered(2));
  proxy.cut();
  const run = logs(proxy, [id, '--follow']);
  await until(() => run.err() !== '', 10_000);
  proxy.mend();
  expect([await run.exit(), printed(run)]).toEqual([0, infos(numbered(2))]);
  expect(run.err()).toMatch(/^no connection to \S+ \(.+\), connecting again\n$/);
});

it('prints every entry once and in order, however often the connection is cut while more come', async () => {
  const id = await jobIn(service, 'running', 'often');
  await append(service, id, numbered(2));
  const run = logs(proxy, [id, '--follow', '--json']);
  await run.shows('entry 2');
  await isFollowed(service, id);
  let isOver = false;
  const writing = (async () => {
    while (!isOver) await append(service, id, ['more', 'and more']);
  })();
  for (let times = 0; times < 3; times++) {
    proxy.cut();
    // Once for each outage; but its stream may not be back yet when the next one begins.
    await until(() => run.err().includes('connection lost'));
    const { body } = await service.call('GET', `/jobs/${id}/logs?limit=1`);
    proxy.mend();
    await run.shows(`"seq":${body.cursor.newestSeq + 1},`);
  }
  isOver = true;
  await writing;
  await work(service, id, 'complete');
  expect(await run.exit()).toBe(0);
  const { body } = await service.call('GET', `/jobs/${id}/logs?limit=1`);
  const seqs = Array.from({ length: body.cursor.newestSeq }, (_, i) => i + 1);
  expect(entriesOf(run).map(({ seq }) => seq)).toEqual(seqs);
});

it.each(['ym_“quoted”', 'ym_se\ncret', 'ym_se\ncret\n'])(
  'refuses a key that no header can hold, and does not print it: %j',
  async (key) => {
    const url = await serve((_request, response) => response.end(EMPTY));
    const run = logs({ url }, ['job', '--timeout', '5'], { YARDMASTER_API_KEY: key });
    const code = await run.exit();
    expect(run.err()).not.toMatch(/cret|quoted/);
    expect([1, 2]).toContain(code);
  },
);

it('does not take the key along to where a server sends it', async () => {
  let keyElsewhere: unknown = 'not asked';
  const elsewhere = await serve((request, response) => {
    keyElsewhere = request.headers['x-api-key'];
    response.end(EMPTY);
  });
  const url = await serve((request, response) => {
    response.writeHead(302, { location: `${elsewhere.replace('127.0.0.1', 'localhost')}${request.url}` }).end();
  });
  const run = logs({ url }, ['job', '--timeout', '5'], { YARDMASTER_API_KEY: 'ym_secret' });
  expect([await run.exit(), run.err()]).toEqual([1, 'yardmaster: the server answered with HTTP 302\n']);
  expect(keyElsewhere).toBe('not asked');
});

it('says once that logs cannot be read, whatever the stream tells meanwhile', async () => {
  let asked = 0;
  const url = await serve(
    (_request, response) => {
      if (++asked === 1) response.end(EMPTY);
      else response.writeHead(503).end('{"error":"Storage did not answer"}');
    },
    (send) => {
      send({ type: 'init' });
      const timer = setInterval(() => {
        if (asked > 4) clearInterval(timer);
        send({ type: 'progress', data: { percent: 1, message: '' } });
      }, 20);
    },
  );
  const run = logs({ url }, ['job', '--follow', '--timeout', '15']);
  await until(() => asked > 4);
  expect(run.err()).toBe('connection lost (Storage did not answer), connecting again\n');
});

it('ends when its stream is refused, also while logs cannot be read', async () => {
  let asked = 0;
  const url = await serve(
    (_request, response) => {
      if (++asked === 1) response.end(EMPTY);
      else response.writeHead(503).end('{"error":"Storage did not answer"}');
    },
    (send, ws) => {
      send({ type: 'init' });
      const timer = setInterval(() => {
        if (asked < 2) return;
        clearInterval(timer);
        ws.close(1008, 'API key is no longer valid');
      }, 10);
    },
  );
  const run = logs({ url }, ['job', '--follow', '--timeout', '5']);
  await until(() => run.child.exitCode !== null, 10_000);
  expect([run.child.exitCode, run.err().split('\n').at(-2)]).toEqual([1, 'yardmaster: API key is no longer valid']);
});

it('asks for whole pages when what the server finds may not be the phrase', async () => {
  const { id } = await createJob(service, 'apart');
  await append(service, id, ['say "disk full"', ...Array(400).fill('disk full, "no"')]);
  const { messages } = await logsHere(counter, id, { grep: '"disk', tail: 1 });
  expect(messages).toEqual(['info  say "disk full"']);
  expect(counter.asked.length).toBeLessThan(5);
});

it('exits with 1 on a server that changes the protocol', async () => {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const run = logs({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, ['job', '--timeout', '1']);
    expect([await run.exit(), run.err()]).toEqual([1, 'yardmaster: the server answered with HTTP 101\n']);
  } finally {
    server.close();
  }
});

it('exits with 1 when a page leads nowhere', async () => {
  const again = JSON.stringify({ logs: [], cursor: { mode: 'after', oldestSeq: 0, newestSeq: 0, hasMore: true } });
  const url = await serve((_request, response) => response.end(again));
  const run = logs({ url }, ['job']);
  expect([await run.exit(), run.err()]).toEqual([1, 'yardmaster: the server answered with a page again\n']);
});

it('prints what has taken the place of entries that the service has lost, and says so', async () => {
  const entry = (seq: number, message: string) => ({ seq, level: 'info', message, loggedAt: timestamp });
  let kept = [entry(1, 'one'), entry(2, 'two'), entry(3, 'three')];
  let end: () => void = () => undefined;
  const url = await serve(
    (request, response) => {
      const after = new URL(request.url as string, 'http://x').searchParams.get('after');
      const page = kept.filter(({ seq }) => seq > Number(after));
      const newestSeq = page.at(-1)?.seq ?? Number(after);
      response.end(JSON.stringify({ logs: page, cursor: { mode: 'after', oldestSeq: 1, newestSeq, hasMore: false } }));
      // What comes once it was seen that some are gone.
      if (after === null) kept.push(entry(2, 'another two'));
      if (after === '1') end();
    },
    (send, ws) => {
      send({ type: 'init' });
      if (kept.length === 3) {
        kept = [entry(1, 'one')];
        ws.close(1012);
      }
      end = () => send({ type: 'completed', status: 'completed' });
    },
  );
  const run = logs({ url }, ['job', '--follow']);
  expect([await run.exit(), printed(run)]).toEqual([0, infos(['one', 'two', 'three', 'another two'])]);
  expect(run.err()).toBe(
    'connection lost (messages may be missing), connecting again\nentries 2 to 3 were lost by the service\n',
  );
});
