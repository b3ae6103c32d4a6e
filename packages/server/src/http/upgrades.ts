import type { IncomingMessage, Server } from 'node:http';
import type { Streams } from '../streams.js';
import { forgetSocket } from './open-sockets.js';

const ASKED = Symbol('the client asks for an upgrade');

type Asking = IncomingMessage & { [ASKED]?: boolean | null };

/**
 * Make a server pass WebSocket handshakes on the streams' paths on to the streams.
 *
 * @param Request class that the server makes its requests from; no other server may use it
 */
export function attachStreams(server: Server, Request: typeof IncomingMessage, streams: Streams): void {
  takeUpgrades(Request, (req) => asksForWebSocket(req) && streams.isFor(req));
  server.on('upgrade', (req, socket, head) => {
    forgetSocket(server, socket);
    streams.upgrade(req, socket, head);
  });
}

/**
 * Make Node hand over as an upgrade only the requests that `isTaken` accepts. Any other request with an `Upgrade`
 * header is an ordinary one, as HTTP says. Without this, one listener for WebSocket would swallow the calls of every
 * client that offers HTTP/2 on its first request, as Java's does.
 *
 * Node's parser asks its request whether it is an upgrade once the headers are there; the property below decides that.
 * Newer releases have an option of the server for it (`shouldUpgradeCallback`, 24.9).
 */
function takeUpgrades(Request: typeof IncomingMessage, isTaken: (req: IncomingMessage) => boolean): void {
  Object.defineProperty(Request.prototype, 'upgrade', {
    configurable: true,
    get(this: Asking) {
      return this[ASKED] === true && isTaken(this);
    },
    set(this: Asking, asked: boolean | null) {
      this[ASKED] = asked;
    },
  });
}

/** Whether a request asks for WebSocket, which is not possible in HTTP/1.0. */
function asksForWebSocket(req: IncomingMessage): boolean {
  return req.method === 'GET' && req.httpVersion === '1.1' && req.headers.upgrade?.toLowerCase() === 'websocket';
}
