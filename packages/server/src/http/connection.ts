import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Private members of a socket of Node's HTTP server. There is no public API to stop reading requests. */
export interface HttpSocket extends Socket {
  parser: {
    /** Called with the head of each request. Returns how to continue: 2 for an upgrade, else 0. */
    onIncoming: (req: ParsedRequest, keepAlive: boolean) => number;
    resume(): void;
  } | null;
  /** Whether the server has stopped reading because the client doesn't read its responses. */
  _paused: boolean;
}

/** A request as created by the parser. */
export type ParsedRequest = IncomingMessage & { upgrade?: boolean };

const OPEN_RESPONSES = Symbol('open responses of the connection');

type TrackedSocket = Duplex & { [OPEN_RESPONSES]?: OpenResponses };

const connections = new WeakMap<Server, Set<Socket>>();

/** Start tracking the connections of a server and the open responses of each. */
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

/** Open responses of a connection, in the order of their requests, which is also the order of sending. */
export class OpenResponses {
  /** Tenant of the latest request of the connection, and whether that request was urgent. */
  tenant = '';
  isUrgent = false;
  // There is almost always just one. A Set that alternates between zero and one entries rebuilds its table each time.
  #first: ServerResponse | null = null;
  readonly #others: ServerResponse[] = [];

  /** Number of responses. */
  get size(): number {
    return this.#first === null ? 0 : 1 + this.#others.length;
  }

  add(res: ServerResponse): void {
    if (this.#first === null) this.#first = res;
    else this.#others.push(res);
  }

  /** Remove a response. @returns whether it was present */
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

  /** Return a copy of the list, so that responses may be removed while iterating over it. */
  all(): ServerResponse[] {
    return this.#first === null ? [] : [this.#first, ...this.#others];
  }
}

/** Record the tenant of a connection's latest request, and whether running jobs depend on that request. */
export function setTenant(socket: Duplex, tenant: string, isUrgent: boolean): void {
  const open = openResponsesOf(socket);
  open.tenant = tenant;
  open.isUrgent = isUrgent;
}

/** Return the response that a socket is sending or will send next; null if the socket is idle. */
export function currentResponseOf(socket: Duplex): ServerResponse | null {
  // A private field of Node. There is no public one.
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

/** Close a connection after a response, unless other responses follow, which would be lost. */
export function closeAfter(res: ServerResponse): void {
  if (openResponsesOf(res.req.socket).size === 1) res.shouldKeepAlive = false;
}

/**
 * Call back once all earlier requests on a socket have their responses. Bytes written before that would be mistaken for the
 * first response, or end up in the middle of it.
 */
export function onceResponded(socket: Duplex, then: () => void): void {
  const current = currentResponseOf(socket);
  if (current) current.once('close', () => onceResponded(socket, then));
  else then();
}
