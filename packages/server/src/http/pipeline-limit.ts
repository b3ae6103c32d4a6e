import type { Server } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import type { RequestMetrics } from '../metrics/http.js';
import { type HttpSocket, openResponsesOf } from './connection.js';
import { readPauseOf } from './read-queue.js';
import { rawResponse, refuseWhenIdle } from './refusal.js';

/** How long a connection stays open after its refusal, for the client to read it, milliseconds. */
const READ_MS = 1_000;

/** Requests of one connection that may be open, and that may begin in one turn of the event loop. */
export const AT_ONCE = 64;

/**
 * Cut off connections that send too many requests without waiting for their responses (pipelining). Node would begin to
 * serve all that it reads, and one client could take all memory and the whole event loop. The first request too many is
 * refused once those before it have their responses; it and all after it are not served.
 */
export function limitPipelines(server: Server, requests: RequestMetrics): void {
  server.on('connection', (socket: HttpSocket) => {
    const { parser } = socket;
    if (parser === null) return;
    const begin = parser.onIncoming;
    const open = openResponsesOf(socket);
    let begun = 0;
    let isCutOff = false;
    parser.onIncoming = (req, keepAlive) => {
      if (isCutOff) return 0;
      // Refusals are sent at once, so the open responses don't bound them.
      if (begun++ === 0) setImmediate(() => (begun = 0));
      if (begun <= AT_ONCE && open.size < AT_ONCE) return begin(req, keepAlive);
      isCutOff = true;
      readPauseOf(socket).pause();
      socket.once('finish', () => setTimeout(() => socket.destroy(), READ_MS).unref());
      const refusal = new YardmasterError('OVERLOADED', `at most ${AT_ONCE} requests of a connection may wait`);
      requests.refused(socket, refusal.status);
      refuseWhenIdle(socket, rawResponse(refusal));
      return 0;
    };
  });
}
