import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Service } from '@yardmaster/runtime';
import { untrackConnection } from './connection.js';

/** Serves the paths of the streams on an HTTP server that another module owns. `stop` closes each socket with 1001. */
export interface Streams extends Service {
  /** Whether a request is for the streams, upgrade or not. */
  isFor(req: IncomingMessage): boolean;
  /** Respond to a request that came without an upgrade. */
  respond(req: IncomingMessage, res: ServerResponse): void;
  /** Take over a socket whose client asks for WebSocket. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const ASKED = Symbol('the client asks for an upgrade');

type UpgradableRequest = IncomingMessage & { [ASKED]?: boolean | null };

/**
 * Make a server pass WebSocket handshakes on the streams' paths on to the streams.
 *
 * @param Request class that the server makes its requests from; no other server may use it
 */
export function attachStreams(server: Server, Request: typeof IncomingMessage, streams: Streams): void {
  acceptUpgrades(Request, (req) => asksForWebSocket(req) && streams.isFor(req));
  server.on('upgrade', (req, socket, head) => {
    untrackConnection(server, socket);
    streams.upgrade(req, socket, head);
  });
}

/**
 * Make Node treat as an upgrade only the requests that `isAccepted` accepts. Any other request with an `Upgrade` header
 * is an ordinary one, as HTTP says. Without this, one listener for WebSocket would take the calls of every client that
 * offers HTTP/2 on its first request, as Java's does.
 *
 * Node's parser asks its request whether it is an upgrade once the headers are there; the property below decides that.
 * See docs/upstream.md.
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

/** Whether a request asks for WebSocket, which is not possible in HTTP/1.0. */
function asksForWebSocket(req: IncomingMessage): boolean {
  return req.method === 'GET' && req.httpVersion === '1.1' && req.headers.upgrade?.toLowerCase() === 'websocket';
}
