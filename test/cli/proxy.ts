import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { during } from '../support/during.js';

export interface Proxy {
  url: string;
  /** Requests so far: the query of a request for logs, or `stream` for a stream. */
  requests: string[];
  /** Queries of the requests that got a response so far, without streams. */
  responded: string[];
  /** Break every connection, and every new one immediately, until `restore`. */
  cut: () => void;
  restore: () => void;
  stop: () => Promise<void>;
}

/** Set up a proxy between client and service that records requests and can fail. */
export const withProxy = (service: { readonly url: string }) =>
  during(
    () => startProxy(service.url),
    ({ stop }) => stop(),
  );

async function startProxy(serviceUrl: string): Promise<Proxy> {
  const { hostname, port } = new URL(serviceUrl);
  const requests: string[] = [];
  const responded: string[] = [];
  const clients = new Set<Socket>();
  let isCut = false;
  const server = http.createServer((request, response) => {
    const { method, headers, url: path } = request;
    const isStream = headers.accept === 'text/event-stream';
    const { search } = new URL(path as string, serviceUrl);
    requests.push(isStream ? 'stream' : search);
    const upstream = http.request({ hostname, port, method, headers, path, agent: false }, (reply) => {
      response.writeHead(reply.statusCode as number, reply.headers);
      reply.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy()).on('finish', () => !isStream && responded.push(search));
    request.pipe(upstream);
  });
  server.on('connection', (client: Socket) => {
    clients.add(client);
    client.on('error', () => undefined).on('close', () => clients.delete(client));
    if (isCut) client.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = () => {
    for (const client of clients) client.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    responded,
    cut() {
      isCut = true;
      breakAll();
    },
    restore() {
      isCut = false;
    },
    async stop() {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };
}
