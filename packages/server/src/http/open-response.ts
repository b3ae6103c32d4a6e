import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Return the response that a socket has just now, or null when the socket is idle. */
export function openResponseOf(socket: Duplex): ServerResponse | null {
  // A private field of Node's; there is no public one.
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/**
 * Call back once every earlier request on a socket has its response. What is written before that would be taken for
 * the response to the first of them, or end up in the middle of it.
 */
export function onceResponded(socket: Duplex, then: () => void): void {
  const open = openResponseOf(socket);
  if (open) open.once('close', () => onceResponded(socket, then));
  else then();
}
