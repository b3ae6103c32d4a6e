import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface FlakyProxy {
  url: string;
  /** Break every connection, and each new one at once until `mend`. */
  cut: () => void;
  mend: () => void;
  stop: () => Promise<void>;
}

/** A network between client and service that can fail. */
export async function startFlakyProxy(serviceUrl: string): Promise<FlakyProxy> {
  const { hostname, port } = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  let isDown = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    if (isDown) {
      client.on('error', () => undefined).destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) keep(socket);
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isDown = true;
      cutAll();
    },
    mend() {
      isDown = false;
    },
    async stop() {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
