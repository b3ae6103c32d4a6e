import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { openResponseOf } from './answered.js';
import { socketsOf } from './open-sockets.js';
import { stopListening } from './stop-listening.js';

/** A connection on which nothing has come for so long is closed. */
const QUIET_MS = 1_000;

/**
 * Accept nothing new, wait for the open requests, and close the connections, none under a request.
 *
 * A proxy that sends a call just as its connection is closed cannot know whether the call was done, and must not send
 * it again. So a connection that is in use ends behind its next answer, which says so (see protectServer); one that is not
 * is closed when nothing has come on it for a second. Node's `close` and `closeIdleConnections` would close all that have
 * no request just now, those included whose first one is on its way.
 *
 * @param withinMs after which whoever is still open is cut off
 */
export async function drain(server: Server, withinMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = stopListening(server);
  const closeQuiet = quietCloser(server);
  const sweep = setInterval(() => setImmediate(closeQuiet), 50);
  const limit = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(limit);
  server.close(() => undefined); // It listens no more; this ends Node's own timer.
}

/** Make what closes connections that are quiet, to be called right after the event loop has read what has come. */
function quietCloser(server: Server): () => void {
  const seen = new WeakMap<Socket, { bytes: number; since: number }>();
  return () => {
    const now = performance.now();
    for (const socket of socketsOf(server)) {
      const before = seen.get(socket);
      if (before === undefined || before.bytes !== socket.bytesRead || openResponseOf(socket) !== null) {
        seen.set(socket, { bytes: socket.bytesRead, since: now });
      } else if (now - before.since >= QUIET_MS) {
        socket.destroy();
      }
    }
  };
}
