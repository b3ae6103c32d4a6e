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
export function onceGone(socket: Socket, then: () => void): () => void {
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

const unsent = new WeakMap<Socket, Set<Unsent>>();

/**
 * Call back if the connection of a response closes before the system has all of the response.
 *
 * It does not listen to the response's `finish`, see metrics/http.ts of the server. A response that was sent is forgotten
 * with the next one.
 */
export function ifUnsent(res: ServerResponse, then: () => void): void {
  const { socket } = res.req;
  if (socket.destroyed) {
    then();
    return;
  }
  const known = unsent.get(socket);
  const all = known ?? new Set<Unsent>();
  if (known === undefined) {
    unsent.set(socket, all);
    socket.once('close', () => {
      for (const each of all) if (!each.res.writableFinished) each.then();
    });
  }
  for (const each of all) if (each.res.writableFinished) all.delete(each);
  all.add({ res, then });
}
