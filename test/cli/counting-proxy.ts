import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, connect } from 'node:net';

export interface CountingProxy {
  url: string;
  /** What was asked for so far: the query of a request for logs, `stream` for a connection. */
  asked: string[];
  stop: () => Promise<void>;
}

/** A network between client and service that keeps what it sees of requests. */
export async function startCountingProxy(serviceUrl: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(serviceUrl);
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(new URL(request.url as string, serviceUrl).search);
    const { method, headers, url: path } = request;
    const upstream = http.request({ hostname, port, method, headers, path }, (answer) => {
      response.writeHead(answer.statusCode as number, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    request.pipe(upstream);
  });
  server.on('upgrade', ({ url: path, rawHeaders }: http.IncomingMessage, client) => {
    asked.push('stream');
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    const lines = rawHeaders.flatMap((text, i) => (i % 2 === 0 ? [`${text}: ${rawHeaders[i + 1]}`] : []));
    upstream.write([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
