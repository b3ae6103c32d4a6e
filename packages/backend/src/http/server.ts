import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { YardmasterError } from '@yardmaster/protocol';
import { type RequestMetrics, unansweredOn } from '../metrics/requests.js';
import { openResponseOf } from './answered.js';
import { trackSockets } from './open-sockets.js';
import { boundPipelines } from './pipelining/bound-pipelines.js';
import { rawAnswer } from './raw-answer.js';
import { createReadingTurns } from './reading-turns.js';

/** Time-outs that keep slow and endless requests from piling up. */
export const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Longer than a load balancer keeps an idle connection (60 s is common), so that it is never we who hang up on one.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false, // The app refuses it, with a body that says why.
};

/** Make a server answer, or end, what never becomes a request; and have everything observed that does. */
export function protectServer(server: Server, requests: RequestMetrics): Server {
  requests.watch(server, createReadingTurns(requests));
  boundPipelines(server);
  trackSockets(server);
  // A server that is closing: the next request of this connection must go to another process.
  server.prependListener('request', (_req, res) => {
    if (!server.listening) res.shouldKeepAlive = false;
  });
  // No byte sent or read for so long while a request is open: the client does not read its answer. One that does not
  // send the rest of its request gets its 408 first, after `requestTimeout` and what passes until that is looked at.
  server.timeout = 35_000;
  // An expectation that we do not know may be ignored; Node's 417 would have no body.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res));
  /** Sockets whose refusal waits for the responses before it. */
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // Whatever is read behind what is no request is no request either: once for each piece.
    if (refused.has(socket)) return;
    refused.add(socket);
    const { refusal, status } = refusalOf(error.code);
    requests.refused(socket, status);
    refuseWhenIdle(socket, rawAnswer(refusal, { status }));
  });
  return server;
}

/**
 * Refuse what came in on a socket behind other requests, once those are answered: written at once, the refusal
 * would pass for the answer to the first of them.
 */
function refuseWhenIdle(socket: Duplex, refusal: string): void {
  if (socket.destroyed) return;
  const open = openResponseOf(socket);
  // When the request is not complete, it is the broken one, and its answer waits for a body that never comes.
  if (open?.req.complete) open.once('finish', () => refuseWhenIdle(socket, refusal));
  else if (unansweredOn(socket).waiting > 0) setImmediate(refuseWhenIdle, socket, refusal);
  else socket.end(refusal);
}

/** How what could not be parsed as a request is answered. */
function refusalOf(code: string | undefined): { refusal: YardmasterError; status: number } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { refusal: new YardmasterError('REQUEST_TIMEOUT'), status: 408 };
  if (code === 'HPE_HEADER_OVERFLOW')
    return { refusal: new YardmasterError('INVALID_REQUEST', 'headers must be at most 16 KB'), status: 431 };
  return { refusal: new YardmasterError('INVALID_REQUEST', 'request must be valid HTTP/1.1'), status: 400 };
}
