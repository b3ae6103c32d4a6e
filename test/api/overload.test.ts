import http from 'node:http';
import { expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { createMetrics, protectServer, SERVER_OPTIONS } from '@yardmaster/server';
import { ACTIONS } from '../settle/settle.js';
import { during } from '../support/during.js';
import { type RawClient, withRaw } from '../support/raw-client.js';
import { until } from '../support/until.js';

const HOST = 'Host: localhost\r\n';

/** A server like ours that responds to each request with its path and body, but only when the test allows it. */
const paused = during(startPaused, async ({ server, sockets }) => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

async function startPaused() {
  const open: (() => void)[] = [];
  const sockets: import('node:net').Socket[] = [];
  const server = http.createServer(SERVER_OPTIONS, async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    open.push(() => res.setHeader('content-length', Buffer.byteLength(req.url + body)).end(req.url + body));
  });
  protectServer(server, createMetrics().requests);
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { server, open, sockets, url: `http://127.0.0.1:${port}` };
}

/** Respond to requests as they arrive, until this many have their responses. */
async function respondToAll(raw: RawClient, count: number) {
  await until(() => {
    for (const response of paused.open.splice(0)) response();
    return raw.responses.length >= count || raw.socket.closed;
  });
  return raw.responses;
}

const requests = (count: number, body = '') =>
  Array.from(
    { length: count },
    (_, n) => `POST /${n} HTTP/1.1\r\n${HOST}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

it.each(['', 'with a bödy'])(
  'serves 64 pipelined requests of one connection concurrently and in order: %s',
  async (body) => {
    await withRaw(paused.url, async (raw) => {
      raw.socket.write(requests(64, body).join(''));
      await until(() => paused.open.length === 64);
      const responses = await respondToAll(raw, 64);
      expect(responses.map(({ text }) => text)).toEqual(Array.from({ length: 64 }, (_, n) => `/${n}${body}`));
      raw.socket.write(requests(1).join(''));
      expect((await respondToAll(raw, 65)).at(-1)).toMatchObject({ status: 200, text: '/0' });
    });
  },
);

/** The refusal that ends a connection with more pipelined requests. */
const CUT_OFF = {
  status: 503,
  headers: expect.objectContaining({ connection: 'close', 'retry-after': expect.stringMatching(/^\d+$/) }),
  text: expect.stringContaining('"code":"OVERLOADED"'),
};

it('cuts off a connection at its 65th open request, after responding to the earlier ones', async () => {
  await withRaw(paused.url, async (raw) => {
    raw.socket.write(requests(100_000).join(''));
    await until(() => paused.open.length === 64);
    const socket = paused.sockets.at(-1) as { bytesRead: number };
    // While another connection is served, this one is not read.
    const before = socket.bytesRead;
    await withRaw(paused.url, async (other) => {
      other.socket.write(requests(1).join(''));
      await until(() => paused.open.length === 65);
      paused.open.pop()?.();
      await other.receive(1);
    });
    expect([paused.open.length, socket.bytesRead]).toEqual([64, before]);
    const responses = await respondToAll(raw, 65);
    expect(responses.slice(0, 64).map(({ text }) => text)).toEqual(Array.from({ length: 64 }, (_, n) => `/${n}`));
    expect(responses[64]).toMatchObject(CUT_OFF);
    await raw.closed();
    expect([paused.open.length, responses.length, socket.bytesRead]).toEqual([0, 65, before]);
  });
});

it('cuts off a connection at its 65th request in one turn of the event loop, even if each is answered immediately', async () => {
  const served = [0];
  const server = http.createServer(SERVER_OPTIONS, (req, res) => {
    if (served.at(-1) === 0) setImmediate(() => served.push(0));
    served[served.length - 1] = (served.at(-1) as number) + 1;
    req.resume();
    res.setHeader('content-length', 0).end();
  });
  protectServer(server, createMetrics().requests);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await withRaw(`http://127.0.0.1:${(server.address() as { port: number }).port}`, async (raw) => {
    raw.socket.write(requests(700, '{}').join(''));
    await raw.closed();
    expect(raw.responses.at(-1)).toMatchObject(CUT_OFF);
  });
  server.close();
  expect(Math.max(...served)).toBe(64);
});

it('returns pipelined bodies unchanged, whatever chunks they arrive in', async () => {
  const bodies = Array.from({ length: 60 }, (_, n) => String.fromCharCode(65 + n).repeat(30_000 + n));
  await withRaw(paused.url, async (raw) => {
    for (let round = 0; round < 2; round++) {
      raw.socket.write(bodies.map((body) => requests(1, body)[0]).join(''));
      const responses = await respondToAll(raw, (round + 1) * bodies.length);
      expect(responses.slice(-bodies.length).map(({ text }) => text.slice(2))).toEqual(bodies);
    }
  });
});

it('refuses invalid input only after the responses to the requests before it', async () => {
  await withRaw(paused.url, async (raw) => {
    raw.socket.write(`${requests(40).join('')}garbage\r\n\r\n`);
    const responses = await respondToAll(raw, 41);
    expect(responses.map(({ status }) => status)).toEqual([...Array(40).fill(200), 400]);
    await raw.closed();
  });
});

it('upgrades a connection once all earlier requests have their responses', async () => {
  const upgrade = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: letters\r\n\r\n`;
  await withRaw(paused.url, async (raw) => {
    raw.socket.write(requests(40).join(''));
    await respondToAll(raw, 40);
    raw.socket.write(upgrade('/ignored'));
    expect((await respondToAll(raw, 41)).at(-1)).toMatchObject({ status: 200, text: '/ignored' });
    let kept = Buffer.alloc(0);
    paused.server.once('upgrade', (_req, socket, head) => {
      kept = head;
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${head.toString().toUpperCase()}`);
      socket.on('data', (letters: Buffer) => socket.write(letters.toString().toUpperCase()));
    });
    raw.socket.write(`${upgrade('/letters')}abc`);
    await until(() => raw.received.rest.toString() === 'ABC');
    raw.socket.write('x'.repeat(2_000));
    await until(() => raw.received.rest.toString() === `ABC${'X'.repeat(2_000)}`);
    expect(kept.toString()).toBe('abc');
  });
});

it('serves other connections after a client disconnects while its requests wait', async () => {
  await withRaw(paused.url, async (raw) => {
    raw.socket.write(requests(40).join(''));
    await until(() => paused.open.length === 40);
  });
  for (const response of paused.open.splice(0)) response();
  await withRaw(paused.url, async (raw) => {
    raw.socket.write(requests(1).join(''));
    expect(await respondToAll(raw, 1)).toHaveLength(1);
  });
});

it('serves kills, and calls that a running job depends on, before other calls', () => {
  const urgent = ROUTES.filter(({ slot }) => slot === 'urgent').map(({ path }) => path.split('/').at(-1));
  expect(urgent.sort()).toEqual([...ACTIONS, 'kill', 'settle'].sort());
});
