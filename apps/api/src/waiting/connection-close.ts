import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Callbacks for the close of a connection. */
const listeners = new WeakMap<Socket, Set<() => void>>();

/**
 * Call back once a connection has closed. A response queued behind another doesn't report that its client is gone, so this
 * listens to the connection, with one listener for all waiting calls of the connection.
 *
 * @returns a function that cancels the callback
 */
export function onConnectionClosed(socket: Socket, then: () => void): () => void {
  const known = listeners.get(socket);
  const all = known ?? new Set<() => void>();
  if (known === undefined) {
    listeners.set(socket, all);
    socket.once('close', () => {
      for (const each of [...all]) each();
    });
  }
  all.add(then);
  return () => all.delete(then);
}

/** A response, and what to do if its connection closes before it is sent. */
interface Unsent {
  res: ServerResponse;
  then: () => void;
}

/**
 * Return whether the operating system received the whole response before the connection failed. Node then detaches the
 * socket from the response. A response queued behind another has no socket yet and isn't finished. Node also marks a
 * response as finished if the rest of it was dropped because the client reset the connection.
 */
const isSent = (res: ServerResponse) => res.writableFinished && res.socket === null && res.req.socket.errored === null;

const unsent = new WeakMap<Socket, Set<Unsent>>();

/**
 * Call back if the connection of a response closes before the operating system has the whole response.
 *
 * This doesn't listen to the response's `finish`; see metrics/http.ts of the server. A small response is forgotten in the
 * next iteration of the event loop, a large one at the next response. If the client resets the connection before that, the
 * response counts as not sent.
 */
export function onResponseLost(res: ServerResponse, then: () => void): void {
  const { socket } = res.req;
  if (socket.destroyed) {
    then();
    return;
  }
  const known = unsent.get(socket);
  const all = known ?? new Set();
  const forgetSent = () => {
    for (const each of all) if (isSent(each.res)) all.delete(each);
  };
  if (known === undefined) {
    unsent.set(socket, all);
    socket.once('close', () => {
      for (const each of all) if (!isSent(each.res)) each.then();
    });
  }
  forgetSent();
  all.add({ res, then });
  setImmediate(forgetSent);
}
