import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { Behaviour } from './behaviours.js';
import { during } from './during.js';

/** A received request. */
export interface Received {
  method: string;
  /** Path and query, undecoded. */
  target: string;
  /** Header names as written, in order, including repeated ones. */
  headers: [name: string, value: string][];
  body: Buffer;
  /** Time at which the last byte was received, in epoch milliseconds. */
  at: number;
}

export interface Listener {
  port: number;
  /** Connections so far, including those without a request. */
  connections(): number;
  /** Connections that are open now. */
  open(): number;
  close(): Promise<void>;
}

export interface Receiver extends Listener {
  /** Set the behaviors of a path: one per request, and the last one for all later requests. @returns its URL */
  script(path: string, ...behaviours: Behaviour[]): string;
  /** Requests to a path, oldest first. */
  requestsTo(path: string): Received[];
}

export interface ListenOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
}

async function listen(server: net.Server, { host = '127.0.0.1', port = 0 }: ListenOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined); // Clients of these servers may disconnect at any time.
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Accept connections and pass each one to the test. */
export function startListener(onSocket: (socket: Socket) => void, options: ListenOptions = {}): Promise<Listener> {
  const server = net.createServer((socket) => {
    socket.resume(); // Otherwise the end of the socket would be stuck behind unread bytes.
    onSocket(socket);
  });
  return listen(server, options);
}

function record(request: http.IncomingMessage, body: Buffer): Received {
  const { method = '', url = '', rawHeaders } = request;
  const headers: Received['headers'] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) headers.push([rawHeaders[i] as string, rawHeaders[i + 1] as string]);
  return { method, target: url, headers, body, at: Date.now() };
}

/**
 * Start a receiver of callbacks that keeps every request and responds as the test has scripted.
 *
 * @param tls key and certificate for HTTPS
 */
export async function startReceiver({
  tls,
  ...options
}: ListenOptions & { tls?: { key: string; cert: string } } = {}): Promise<Receiver> {
  const scripts = new Map<string, Behaviour[]>();
  const received: Received[] = [];
  const pathOf = (target: string) => target.replace(/\?.*/, '');
  const requestsTo = (path: string) => received.filter(({ target }) => pathOf(target) === path);

  const onRequest: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = pathOf(request.url ?? '');
      const script = scripts.get(path);
      const behave = script?.[requestsTo(path).length] ?? script?.at(-1);
      received.push(record(request, Buffer.concat(chunks)));
      if (behave) behave(response, request.socket);
      else response.writeHead(404).end();
    });
  };

  const server = tls ? https.createServer(tls, onRequest) : http.createServer(onRequest);
  const listener = await listen(server, options);
  const host = options.host?.includes(':') ? `[${options.host}]` : (options.host ?? '127.0.0.1');
  return {
    ...listener,
    requestsTo,
    script(path, ...behaviours) {
      scripts.set(path, behaviours);
      return `${tls ? 'https' : 'http'}://${host}:${listener.port}${path}`;
    },
  };
}

/** Start a receiver of callbacks for all tests of the file, or of the `describe` block. */
export const withReceiver = (options?: Parameters<typeof startReceiver>[0]): Receiver =>
  during(
    () => startReceiver(options),
    (receiver) => receiver.close(),
  );
