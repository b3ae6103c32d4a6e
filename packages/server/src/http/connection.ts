import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Private parts of a socket of Node's HTTP server; no public API stops reading requests. */
export interface HttpSocket extends Socket {
  parser: {
    /** Called with the head of each request; the returned number says how to continue: 2 for an upgrade, else 0. */
    onIncoming: (req: ParsedRequest, keepAlive: boolean) => number;
    resume(): void;
  } | null;
  /** Whether the server has stopped reading, because its responses are not read. */
  _paused: boolean;
}

/** A request as the parser makes it. */
export type ParsedRequest = IncomingMessage & { upgrade?: boolean };

const OPEN_RESPONSES = Symbol('open responses of the connection');

type TrackedSocket = Duplex & { [OPEN_RESPONSES]?: OpenResponses };

const connections = new WeakMap<Server, Set<Socket>>();

/** Track the connections of a server, and the open responses of each, from now on. */
export function trackConnections(server: Server): void {
  const sockets = new Set<Socket>();
  connections.set(server, sockets);
  server.on('connection', (socket: Socket) => {
    (socket as TrackedSocket)[OPEN_RESPONSES] = new OpenResponses();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}

/** Stop tracking a socket that no longer speaks HTTP: its new owner closes it. */
export function untrackConnection(server: Server, socket: Duplex): void {
  connections.get(server)?.delete(socket as Socket);
}

/** Return the sockets of a server that speak HTTP. */
export const connectionsOf = (server: Server): ReadonlySet<Socket> => connections.get(server) ?? new Set();

/** Return the open responses of a connection of a tracked server. */
export const openResponsesOf = (socket: Duplex) => (socket as TrackedSocket)[OPEN_RESPONSES] as OpenResponses;

/** Responses of one connection that have not ended, in the order of their requests, which is also that of sending. */
export class OpenResponses {
  /** Tenant of the latest request of the connection, and whether that request was urgent. */
  tenant = '';
  isUrgent = false;
  // Nearly always there is only one. A Set that goes between none and one makes its table again each time.
  #first: ServerResponse | null = null;
  readonly #others: ServerResponse[] = [];

  /** How many responses there are. */
  get size(): number {
    return this.#first === null ? 0 : 1 + this.#others.length;
  }

  add(res: ServerResponse): void {
    if (this.#first === null) this.#first = res;
    else this.#others.push(res);
  }

  /** Remove a response. @returns whether it was there */
  delete(res: ServerResponse): boolean {
    if (res === this.#first) {
      this.#first = this.#others.shift() ?? null;
    } else {
      const i = this.#others.indexOf(res);
      if (i < 0) return false;
      this.#others.splice(i, 1);
    }
    return true;
  }

  /** Return the responses that are there now; each may be removed in the meantime. */
  all(): ServerResponse[] {
    return this.#first === null ? [] : [this.#first, ...this.#others];
  }
}

/** Record for which tenant the latest request of a connection is, and whether running jobs depend on that request. */
export function setTenant(socket: Duplex, tenant: string, isUrgent: boolean): void {
  const open = openResponsesOf(socket);
  open.tenant = tenant;
  open.isUrgent = isUrgent;
}

/** Return the response that a socket is sending, or is to send next; null when the socket is idle. */
export function currentResponseOf(socket: Duplex): ServerResponse | null {
  // A private field of Node's; there is no public one.
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/** Close a connection after a response, unless others follow it, which would be lost. */
export function closeAfter(res: ServerResponse): void {
  if (openResponsesOf(res.req.socket).size === 1) res.shouldKeepAlive = false;
}

/**
 * Call back once every earlier request on a socket has its response. Bytes written before that would be taken for the
 * response to the first of them, or end up in the middle of it.
 */
export function onceResponded(socket: Duplex, then: () => void): void {
  const current = currentResponseOf(socket);
  if (current) current.once('close', () => onceResponded(socket, then));
  else then();
}
