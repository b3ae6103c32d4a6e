import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What serves the paths of the streams on somebody's HTTP server. */
export interface Streams {
  /** Whether a request is for the streams, upgrade or not. */
  isFor(req: IncomingMessage): boolean;
  /** Answer a request that came without an upgrade. */
  answer(req: IncomingMessage, res: ServerResponse): void;
  /** Take over a socket whose client asks for WebSocket. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /**
   * Close every socket with 1001.
   *
   * @param withinMs after which those who do not answer are cut off
   */
  close(withinMs: number): Promise<void>;
}
