import type { IncomingMessage, ServerResponse } from 'node:http';

/** How much of a body that nobody wants is still read, and for how long in milliseconds. */
const DISCARD_BYTES = 16 * 1_048_576;
const DISCARD_MS = 5_000;

/**
 * End an answer whose head is written. What is left of the request's body is read without keeping it, so that a client
 * that is still sending gets to see its answer instead of a reset. One that goes on for ever is cut off: Node's own
 * time-out ends with the answer, and would let it.
 *
 * @param text the whole body of the answer, if it has one
 */
export function endAnswer(res: ServerResponse, text?: string): void {
  const { req } = res;
  if (req.complete) return void res.end(text);
  discard(req);
  if (res.shouldKeepAlive) return void res.end(text);
  // Node closes such a connection with the end of the answer, and what then still comes is answered by a reset, which
  // takes along what the client has not read. So all of the answer is sent now, and its end waits for that of the request.
  if (text === undefined) res.flushHeaders();
  else res.write(text);
  req.once('close', () => res.end());
}

function discard(req: IncomingMessage): void {
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
