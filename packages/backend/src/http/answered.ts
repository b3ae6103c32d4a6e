import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The response that has a socket just now; none: the socket is idle. */
export function openResponseOf(socket: Duplex): ServerResponse | null {
  // Node's own note; there is no public one.
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/**
 * Call back once every request that came before on a socket is answered: what is written earlier would pass for the
 * answer to the first of them, or lie in the midst of it.
 */
export function onceAnswered(socket: Duplex, then: () => void): void {
  const open = openResponseOf(socket);
  if (open) open.once('close', () => onceAnswered(socket, then));
  else then();
}
