import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What stands between a service and its Redis, and may let it fall into a hole. */
export interface Hole {
  port: number;
  /** Connections that lie in the hole now. */
  readonly depth: number;
  /** Cut what is there; what comes from now on is accepted, and never answered. */
  open(): void;
  /** Let through what comes from now on. What lies in the hole stays there. */
  shut(): void;
  stop(): Promise<void>;
}

/** Stand in front of a port of 127.0.0.1. */
export async function digHole(redisPort: number): Promise<Hole> {
  const through = new Set<Socket>();
  const lost = new Set<Socket>();
  let isOpen = false;

  const server = createServer((socket) => {
    const among = isOpen ? lost : through;
    among.add(socket);
    socket.on('error', () => undefined).on('close', () => among.delete(socket));
    if (isOpen) return void socket.resume();
    const redis = connect(redisPort, '127.0.0.1').on('error', () => undefined);
    socket.pipe(redis).pipe(socket);
    socket.on('close', () => redis.destroy());
    redis.on('close', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    get depth() {
      return lost.size;
    },
    open() {
      isOpen = true;
      for (const socket of through) socket.destroy();
    },
    shut() {
      isOpen = false;
    },
    async stop() {
      for (const socket of [...through, ...lost]) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
