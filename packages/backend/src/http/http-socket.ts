import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** What Node's HTTP server has on a socket; there is nothing public to stop reading requests, or to bound what it parses. */
export interface HttpSocket extends Socket {
  parser: {
    /** Called with the head of each request; what it returns says how to go on: 2 for an upgrade, else 0. */
    onIncoming: (req: Incoming, keepAlive: boolean) => number;
    resume(): void;
  } | null;
  _handle: { reading: boolean; readStart(): void; readStop(): void } | null;
  /** Called by the stream when it wants to be given more. */
  _read(size: number): void;
  /** Whether the server has stopped reading, because responses are not read. */
  _paused: boolean;
}

/** A request as the parser makes it. */
export type Incoming = IncomingMessage & { upgrade?: boolean };
