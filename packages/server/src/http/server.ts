import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import { openResponsesOn, type RequestMetrics } from '../metrics/requests.js';
import { openResponseOf } from './open-response.js';
import { trackSockets } from './open-sockets.js';
import { boundPipelines } from './pipelining/bound-pipelines.js';
import { rawResponse } from './raw-response.js';
import { createReadingTurns } from './reading-turns.js';

/** Time-outs that keep slow and endless requests from piling up. */
export const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Longer than a load balancer keeps an idle connection (60 s is common), so that this server never closes one first.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false, // The app refuses a missing one, with a body that says why.
};

/** Make a server respond to, or close, whatever never becomes a request, and observe every request. */
export function protectServer(server: Server, requests: RequestMetrics): Server {
  requests.watch(server, createReadingTurns(requests));
  boundPipelines(server);
  trackSockets(server);
  // When the server is closing, the next request of this connection must go to another process.
  server.prependListener('request', (_req, res) => {
    if (!server.listening) res.shouldKeepAlive = false;
  });
  // No byte was sent or read for so long while a request is open: the client does not read its response. A client that
  // does not send the rest of its request gets its 408 first: after `requestTimeout` and the time until Node checks it.
  server.timeout = 35_000;
  // An expectation that we do not know may be ignored; Node's own 417 would have no body.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res));
  /** Sockets whose refusal waits for the responses before it. */
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // Whatever is read after an invalid request is invalid as well, and each piece causes this event.
    if (refused.has(socket)) return;
    refused.add(socket);
    const { refusal, status } = refusalOf(error.code);
    requests.refused(socket, status);
    refuseWhenIdle(socket, rawResponse(refusal, { status }));
  });
  return server;
}

/**
 * Refuse what arrived on a socket after other requests, once those have their responses. If it were written at once,
 * the refusal would be taken for the response to the first of them.
 */
function refuseWhenIdle(socket: Duplex, refusal: string): void {
  if (socket.destroyed) return;
  const open = openResponseOf(socket);
  // An incomplete request is the broken one, and its response waits for a body that never comes.
  if (open?.req.complete) open.once('finish', () => refuseWhenIdle(socket, refusal));
  else if (openResponsesOn(socket).waiting > 0) setImmediate(refuseWhenIdle, socket, refusal);
  else socket.end(refusal);
}

/** Return the refusal of input that could not be parsed as a request. */
function refusalOf(code: string | undefined): { refusal: YardmasterError; status: number } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { refusal: new YardmasterError('REQUEST_TIMEOUT'), status: 408 };
  if (code === 'HPE_HEADER_OVERFLOW')
    return { refusal: new YardmasterError('INVALID_REQUEST', 'headers must be at most 16 KB'), status: 431 };
  return { refusal: new YardmasterError('INVALID_REQUEST', 'request must be valid HTTP/1.1'), status: 400 };
}
