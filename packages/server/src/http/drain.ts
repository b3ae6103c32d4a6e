import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { openResponseOf } from './open-response.js';
import { socketsOf } from './open-sockets.js';
import { stopListening } from './stop-listening.js';

/** How long a connection must be quiet before it is closed, milliseconds. */
const QUIET_MS = 1_000;

/**
 * Accept nothing new, wait for the open requests, and close the connections, but none that has an open request.
 *
 * A proxy that sends a call just as its connection is closed cannot know whether the call was done, and must not send
 * it again. So a connection that is in use ends after its next response, which says so (see protectServer). A
 * connection that is not in use is closed when nothing has arrived on it for a second. Node's `close` and
 * `closeIdleConnections` would close every connection without a request just now, even if its first request is on its
 * way.
 *
 * @param withinMs time after which connections that are still open are cut off
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
  server.close(() => undefined); // The server no longer listens; this ends Node's own timer.
}

/** Create a function that closes quiet connections; call it right after the event loop has read what has arrived. */
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
