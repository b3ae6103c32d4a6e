import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Service } from '@yardmaster/runtime';
import type { RequestMetrics } from '../metrics/http.js';
import { trackConnections, untrackConnection } from './connection.js';
import { holdBody } from './exchange.js';
import { createReadQueue, limitPipelines } from './read-queue.js';
import { refuseInvalidInput } from './refusal.js';

/** Timeouts that keep slow or endless requests from piling up. */
export const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false, // The app refuses a missing one, with a body that says why.
};

/** Make a server refuse or close connections without a valid request, and observe every request. */
export function protectServer(server: Server, requests: RequestMetrics): Server {
  trackConnections(server);
  requests.watch(server, createReadQueue(requests));
  limitPipelines(server, requests);
  // If the server is closing, the next request on this connection must go to another process.
  server.prependListener('request', (_req, res) => {
    if (!server.listening) res.shouldKeepAlive = false;
  });
  // Closes connections on which no byte was sent or received for this long while a request is open: the client doesn't read
  // its response. A client that doesn't finish its request gets a 408 first, after `requestTimeout` and Node's next check.
  server.timeout = 35_000;
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    holdBody(req, res);
    server.emit('request', req, res);
  });
  // Unknown expectations may be ignored; Node's own 417 would have no body.
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

/** Serves the paths of streams on an HTTP server that another module owns. `stop` closes each socket with 1001. */
export interface Streams extends Service {
  /** Return whether a request is for a stream, with or without an upgrade. */
  isFor(req: IncomingMessage): boolean;
  /** Respond to a request without an upgrade. */
  respond(req: IncomingMessage, res: ServerResponse): void;
  /** Take over a socket whose client requests WebSocket. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const ASKED = Symbol('the client asks for an upgrade');

type UpgradableRequest = IncomingMessage & { [ASKED]?: boolean | null };

/**
 * Make a server hand WebSocket handshakes on stream paths over to the streams.
 *
 * @param Request class that the server instantiates for requests; no other server may use it
 */
export function attachStreams(server: Server, Request: typeof IncomingMessage, streams: Streams): void {
  acceptUpgrades(Request, (req) => asksForWebSocket(req) && streams.isFor(req));
  server.on('upgrade', (req, socket, head) => {
    untrackConnection(server, socket);
    streams.upgrade(req, socket, head);
  });
}

/**
 * Make Node treat only the requests that `isAccepted` accepts as upgrades. Any other request with an `Upgrade` header is an
 * ordinary one, as HTTP specifies. Without this, a listener for WebSocket would swallow the calls of every client that
 * offers HTTP/2 on its first request, as Java's does.
 *
 * Once the headers have arrived, Node's parser reads the property below to decide whether the request is an upgrade. See
 * docs/upstream.md.
 */
function acceptUpgrades(Request: typeof IncomingMessage, isAccepted: (req: IncomingMessage) => boolean): void {
  Object.defineProperty(Request.prototype, 'upgrade', {
    configurable: true,
    get(this: UpgradableRequest) {
      return this[ASKED] === true && isAccepted(this);
    },
    set(this: UpgradableRequest, asked: boolean | null) {
      this[ASKED] = asked;
    },
  });
}

/** Return whether a request asks for WebSocket, which is not possible in HTTP/1.0. */
function asksForWebSocket(req: IncomingMessage): boolean {
  return req.method === 'GET' && req.httpVersion === '1.1' && req.headers.upgrade?.toLowerCase() === 'websocket';
}
