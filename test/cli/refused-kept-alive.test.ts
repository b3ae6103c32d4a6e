import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { endAll, yardmaster } from './yardmaster.js';

const ends: (() => unknown)[] = [];
afterEach(() => {
  endAll();
  for (const end of ends.splice(0).reverse()) end();
});

it('ends at once when its stream is refused, however long a proxy keeps the connection open', async () => {
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (_, res) => {
    res.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"Job not found"}');
  });
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const run = yardmaster(['watch', 'nope'], { YARDMASTER_URL: `http://127.0.0.1:${port}` });
  expect([await run.exit(), run.err()]).toEqual([1, 'yardmaster: Job not found\n']);
});
