import type { IncomingMessage } from 'node:http';

/** How much of a body that nobody wants is still read, and for how long in milliseconds. */
const DISCARD_BYTES = 16 * 1_048_576;
const DISCARD_MS = 5_000;

/**
 * Read what is left of a request's body without keeping it, so that a client that is still sending gets to see its
 * answer instead of a reset. One that goes on for ever is cut off: Node's own time-out ends with the answer, and
 * would let it.
 */
export function discard(req: IncomingMessage): void {
  let bytes = 0;
  const cutOff = () => req.socket.destroy();
  const timer = setTimeout(cutOff, DISCARD_MS);
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES) cutOff();
  });
  req.on('close', () => clearTimeout(timer));
  req.on('end', () => clearTimeout(timer));
  req.on('error', () => undefined); // The client went away, which ends it as well.
  req.resume();
}
