import type { Server } from 'node:http';
import net, { type Socket } from 'node:net';
import { every } from '@yardmaster/runtime';
import { connectionsOf, currentResponseOf } from './connection.js';

/** How long a connection must be quiet before it is closed, milliseconds. */
const QUIET_MS = 1_000;

/** How long a server waits for one more connection before it stops listening, milliseconds. */
const ONE_MORE_MS = 100;

/** Maximum length of the accept queue, Node's default. Later clients connected when the queue was already shortened. */
const QUEUED = 511;

/**
 * Stop accepting connections, wait for open requests, and close all connections without an open request.
 *
 * A proxy that sends a call just as its connection is closed can't know whether the call was carried out, and must not retry
 * it. So a connection in use is closed after its next response, which announces it (see protectServer), and an unused one
 * once nothing has arrived on it for a second. Node's `close` and `closeIdleConnections` would immediately close every
 * connection without a request, even if its first request is already on its way.
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
  server.close(() => undefined); // The server no longer listens; this stops Node's own timer.
}

/** Create a function that closes quiet connections. Call it right after the event loop has read all pending input. */
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

/** Node's private handle of the listening socket. There is no public one. */
interface Listening {
  _handle?: { listen?(backlog: number): number } | null;
}

/**
 * Close only the listening socket, unlike `http.Server`, and at a moment when no client loses a call.
 *
 * The operating system accepts connections for us while the event loop is busy. Closing the listening socket resets those
 * that we have not taken yet, and a proxy may already have sent a call on one, which it must not retry. So the queue is
 * first shortened to a single connection: the first packets of other clients are dropped, and these clients try again. Then
 * the queue is emptied, and the socket is closed at the very moment one more connection has been taken from it.
 *
 * @returns a promise that resolves once the socket and all connections are closed
 */
async function stopListening(server: Server): Promise<void> {
  (server as Server & Listening)._handle?.listen?.(0);
  await emptyQueue(server);
  await closeAtNext(server, ONE_MORE_MS);
}

/** Wait for an iteration of the event loop in which no connection arrives; each iteration takes one. */
async function emptyQueue(server: Server): Promise<void> {
  let came = 0;
  const count = () => came++;
  server.on('connection', count);
  // Signals are handled last in an iteration, so the rest of the current one takes no connection.
  await nextTurn();
  for (let before = -1; before !== came && came < QUEUED; ) {
    before = came;
    await nextTurn();
  }
  server.off('connection', count);
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Close just as a connection arrives, before anything is done with it, or if none arrives in time. */
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
