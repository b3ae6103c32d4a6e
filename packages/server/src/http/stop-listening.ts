import type { Server } from 'node:http';
import net from 'node:net';

/** How long a server waits for one more connection before it stops listening, milliseconds. */
const ONE_MORE_MS = 100;

/** Most connections that wait, by Node's default. A client that comes after so many came when the queue was short already. */
const QUEUED = 511;

/** Node's own handle of the listening socket; there is no public one. */
interface Listening {
  _handle?: { listen?(backlog: number): number } | null;
}

/**
 * Close only the listening socket, without what `http.Server` does besides, and at a moment when no client loses a
 * call.
 *
 * The system accepts connections for us, as many as come while the event loop is busy. When their socket is closed, it
 * resets those that we have not taken. A proxy may have sent its call by then, and must not send it again. So the queue
 * is made as short as it can be: one connection. The first packets of others are dropped, and their clients try again.
 * Then the queue is emptied, and the socket is closed at the very moment at which one more connection was taken from
 * it.
 *
 * @returns when the socket and all connections are closed
 */
export async function stopListening(server: Server): Promise<void> {
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
