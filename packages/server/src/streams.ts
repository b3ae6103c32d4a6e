import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Serves the paths of the streams on an HTTP server that another module owns. */
export interface Streams {
  /** Whether a request is for the streams, upgrade or not. */
  isFor(req: IncomingMessage): boolean;
  /** Respond to a request that came without an upgrade. */
  respond(req: IncomingMessage, res: ServerResponse): void;
  /** Take over a socket whose client asks for WebSocket. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /**
   * Close every socket with 1001.
   *
   * @param withinMs time after which sockets that do not reply are cut off
   */
  close(withinMs: number): Promise<void>;
}
