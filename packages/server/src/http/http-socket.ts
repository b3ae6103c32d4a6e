import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Private parts of a socket of Node's HTTP server; no public API stops reading requests, or bounds what is parsed. */
export interface HttpSocket extends Socket {
  parser: {
    /** Called with the head of each request; the returned number says how to go on: 2 for an upgrade, else 0. */
    onIncoming: (req: ParsedRequest, keepAlive: boolean) => number;
    resume(): void;
  } | null;
  _handle: { reading: boolean; readStart(): void; readStop(): void } | null;
  /** Called by the stream when it wants more data. */
  _read(size: number): void;
  /** Whether the server has stopped reading, because its responses are not read. */
  _paused: boolean;
}

/** A request as the parser makes it. */
export type ParsedRequest = IncomingMessage & { upgrade?: boolean };
