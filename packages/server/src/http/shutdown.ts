import type { Server } from 'node:http';
import net, { type Socket } from 'node:net';
import { every } from '@yardmaster/runtime';
import { connectionsOf, currentResponseOf } from './connection.js';

/** How long a connection must be quiet before it is closed, milliseconds. */
const QUIET_MS = 1_000;

/** How long a server waits for one more connection before it stops listening, milliseconds. */
const ONE_MORE_MS = 100;

/**
 * Most connections that wait, by Node's default. A client that comes after so many came when the queue was short
 * already.
 */
const QUEUED = 511;

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
  const sweep = every({ name: 'quiet connections', ms: 50, run: () => setImmediate(closeQuiet) });
  await sweep.start();
  const limit = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  await sweep.stop(0);
  clearTimeout(limit);
  server.close(() => undefined); // The server no longer listens; this ends Node's own timer.
}

/** Create a function that closes quiet connections; call it right after the event loop has read all arrived input. */
function quietCloser(server: Server): () => void {
  const seen = new WeakMap<Socket, { bytes: number; since: number }>();
  return () => {
    const now = performance.now();
    for (const socket of connectionsOf(server)) {
      const before = seen.get(socket);
      if (before === undefined || before.bytes !== socket.bytesRead || currentResponseOf(socket) !== null) {
        seen.set(socket, { bytes: socket.bytesRead, since: now });
      } else if (now - before.since >= QUIET_MS) {
        socket.destroy();
      }
    }
  };
}

/** Node's own handle of the listening socket; there is no public one. */
interface Listening {
  _handle?: { listen?(backlog: number): number } | null;
}

/**
 * Close only the listening socket, unlike `http.Server`, at a moment when no client loses a call.
 *
 * The system accepts connections for us while the event loop is busy. When their socket is closed, it resets those that
 * we have not taken. A proxy may have sent its call by then, and must not send it again. So the queue is made as short
 * as it can be: one connection. The first packets of others are dropped, and their clients try again. Then the queue is
 * emptied, and the socket is closed at the very moment at which one more connection was taken from it.
 *
 * @returns when the socket and all connections are closed
 */
async function stopListening(server: Server): Promise<void> {
  (server as Server & Listening)._handle?.listen?.(0);
  await emptyQueue(server);
  await closeAtNext(server, ONE_MORE_MS);
}

/** Wait for a turn of the event loop in which no connection came: each turn takes one. */
async function emptyQueue(server: Server): Promise<void> {
  let came = 0;
  const count = () => came++;
  server.on('connection', count);
  // A signal is the last thing that a turn handles, so the rest of that turn takes no connection.
  await nextTurn();
  for (let before = -1; before !== came && came < QUEUED; ) {
    before = came;
    await nextTurn();
  }
  server.off('connection', count);
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Close just as a connection comes, before anything is done with it, or when none has come within a time. */
function closeAtNext(server: Server, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(close, withinMs);
    function close() {
      clearTimeout(limit);
      server.off('connection', close);
      net.Server.prototype.close.call(server, () => resolve());
    }
    server.prependListener('connection', close);
  });
}
