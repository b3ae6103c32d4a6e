import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Functions to call when a connection closes. */
const listeners = new WeakMap<Socket, Set<() => void>>();

/**
 * Call back once a connection has closed. A response does not report that its caller is gone while it waits behind
 * another one, so this listens to the connection: once, however many calls of the connection wait.
 *
 * @returns a function that cancels it
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

/** A response, and what to do if its connection closes before the response is sent. */
interface Unsent {
  res: ServerResponse;
  then: () => void;
}

/**
 * Whether the system has all of a response, or had it before its connection failed. Node then takes the socket from the
 * response; one behind another response has no socket yet, and is not finished. Node also calls a response finished whose
 * rest was dropped when the client reset the connection.
 */
const isSent = (res: ServerResponse) => res.writableFinished && res.socket === null && res.req.socket.errored === null;

const unsent = new WeakMap<Socket, Set<Unsent>>();

/**
 * Call back if the connection of a response closes before the system has all of the response.
 *
 * It does not listen to the response's `finish`, see metrics/http.ts of the server. A small response is forgotten in the
 * next turn of the event loop, and a large one that was sent with the next response: if the client resets the connection in
 * between, the response counts as not sent.
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
