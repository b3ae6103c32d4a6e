import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { Yardmaster } from '../dist/index.js';

/** Serve streams: each connection gets the next list of blocks. `null` at the end breaks it, `'open'` keeps it open. */
async function serve(...connections) {
  const requests = [];
  const server = createServer(({ url, headers }, response) => {
    requests.push([url.slice('/api/v1/realtime'.length), headers['last-event-id'] ?? null, headers['x-api-key']]);
    const blocks = connections[Math.min(requests.length, connections.length) - 1];
    if (typeof blocks === 'number') return response.writeHead(blocks).end(ERRORS[blocks]);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 1000\n\n:\n\n');
    for (const block of blocks) if (block !== null && block !== 'open') response.write(block);
    const last = blocks.at(-1);
    if (last === null) setImmediate(() => response.destroy());
    else if (last !== 'open') response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Yardmaster({ url: `http://127.0.0.1:${server.address().port}`, apiKey: 'secret', space: 'a b' });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const openCount = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  return { client, requests, openCount, close };
}

const ERRORS = {
  404: '{"error":"Job not found","code":"JOB_NOT_FOUND"}',
  503: '{"error":"Storage is unavailable","code":"UNAVAILABLE"}',
};
const at = (second) => `2026-01-01T00:00:0${second}.000Z`;
const message = (type, { id, status, timestamp = at(1), ...more } = {}) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ type, status, timestamp, ...more })}\n\n`;
const INIT = message('init', { id: 3, status: 'running' });
const DONE = message('completed', { id: 9, status: 'completed', timestamp: at(9) });

/** Read a stream. @returns the types of its messages */
async function typesOf(stream) {
  const types = [];
  for await (const { type } of stream) types.push(type);
  return types;
}

const cases = {
  'a watch of a job resumes after the last event with an ID': async () => {
    const parts = ['id: 5\r\nda', 'ta: {"type":"progress","data":"\u2028",', '"timestamp":"x"}\r\n\r\n'];
    const fake = await serve([INIT, ...parts, message('logs_appended'), null], 503, [INIT, DONE, 'open']);
    const lost = [];
    const stream = fake.client.handle('a/b').watch({ onDisconnect: ({ message }) => lost.push(message) });
    assert.deepEqual(await typesOf(stream), ['init', 'progress', 'logs_appended', 'init', 'completed']);
    assert.deepEqual(fake.requests, [
      ['/a%2Fb', null, 'secret'],
      ['/a%2Fb', '5', 'secret'],
      ['/a%2Fb', '5', 'secret'],
    ]);
    assert.deepEqual(lost, ['No response: the connection broke', 'Storage is unavailable']);
    fake.close();
  },

  'a terminal event older than the init of a resumed stream does not end the watch': async () => {
    const old = message('dead', { id: 2, status: 'dead', timestamp: at(0) });
    const end = message('killed', { id: 4, status: 'killed', timestamp: at(2) });
    const fake = await serve([INIT, old, message('requeued', { id: 3, status: 'pending', timestamp: at(0) }), end]);
    const types = await typesOf(fake.client.handle('job').watch({ since: 0 }));
    assert.deepEqual(types, ['init', 'dead', 'requeued', 'killed']);
    assert.deepEqual(fake.requests, [['/job', '0', 'secret']]);
    fake.close();
  },

  'a watch ends when its job ends': async () => {
    const ended = 'event: ended\ndata: {}\n\n';
    for (const [first, ...others] of [
      [[message('init', { status: 'killed' }), 'open']],
      [[message('init'), message('completed'), 'open']], // Without jobs:read, messages have no status.
      [[message('init'), ended, 'open']],
      [[message('init')], 204],
    ]) {
      const fake = await serve(first, ...others);
      assert.equal((await typesOf(fake.client.handle('job').watch()))[0], 'init');
      assert.equal(fake.requests.length, 1 + others.length);
      // An open connection would keep the process alive.
      while ((await fake.openCount()) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      fake.close();
    }
  },

  'a watch throws an error that a reconnect cannot fix': async () => {
    const expired = 'event: expired\ndata: {}\n\n';
    for (const [connection, code, status] of [
      [404, 'JOB_NOT_FOUND', 404],
      [[INIT, expired], 'UNAUTHENTICATED', 401],
    ]) {
      const fake = await serve(connection);
      await assert.rejects(typesOf(fake.client.handle('job').watch()), { name: 'YardmasterError', code, status });
      assert.equal(fake.requests.length, 1);
      fake.close();
    }
  },

  'a watch of a space sends its filters and never ends on its own': async () => {
    const end = message('completed', { status: 'completed' });
    const fake = await serve([message('init'), end], [message('init'), 'data: no JSON\n\n', end, 'open']);
    const stop = new AbortController();
    const types = [];
    const stream = fake.client.watch({ name: ['x', 'y'], tag: 'eu', counts: true, signal: stop.signal });
    await assert.rejects(async () => {
      for await (const { type } of stream) if (types.push(type) === 4) stop.abort(new Error('enough'));
    }, /enough/);
    assert.deepEqual(types, ['init', 'completed', 'init', 'completed']);
    assert.deepEqual(
      new Set(fake.requests.map(String)),
      new Set(['/spaces/a%20b?name=x&name=y&tag=eu&counts=1,,secret']),
    );
    fake.close();
  },

  'leaving the loop closes the connection': async () => {
    const fake = await serve([INIT, 'open']);
    for await (const { type } of fake.client.handle('job').watch()) {
      assert.equal(type, 'init');
      break;
    }
    fake.close();
  },
};

for (const [name, run] of Object.entries(cases)) test(name, { timeout: 60_000 }, run);
