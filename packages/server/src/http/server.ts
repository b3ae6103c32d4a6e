import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestMetrics } from '../metrics/http.js';
import { trackConnections } from './connection.js';
import { limitPipelines } from './pipeline-limit.js';
import { createReadQueue } from './read-queue.js';
import { refuseInvalidInput } from './refusal.js';

/** Timeouts that keep slow and endless requests from piling up. */
export const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // This is longer than load balancers keep an idle connection (60 s is common), so that this server never closes one
  // first.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false, // The app refuses a missing one, with a body that says why.
};

/** Make a server refuse, or close, connections without a valid request, and observe every request. */
export function protectServer(server: Server, requests: RequestMetrics): Server {
  trackConnections(server);
  requests.watch(server, createReadQueue(requests));
  limitPipelines(server, requests);
  // When the server is closing, the next request of this connection must go to another process.
  server.prependListener('request', (_req, res) => {
    if (!server.listening) res.shouldKeepAlive = false;
  });
  // No byte was sent or read for so long while a request is open: the client does not read its response. A client that
  // does not send the rest of its request gets its 408 first: after `requestTimeout` and the time until Node checks it.
  server.timeout = 35_000;
  // An expectation that we do not know may be ignored; Node's own 417 would have no body.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res));
  refuseInvalidInput(server, requests);
  return server;
}

/** Start listening. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Return the URL of a listening server: `http://127.0.0.1:8080`. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
