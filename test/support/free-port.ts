import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that a system assigns to connections and to servers on port 0: Linux begins at 32768. */
const [FIRST, LAST] = [20_000, 32_767];

/**
 * Find a port of 127.0.0.1 for a server that must restart on the same port or can't choose one itself. Until this
 * process ends, no other caller in any process gets the port. Without that, a free port could be in use a moment later.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
}

/** Bind the UDP port of this number, which no server of ours needs, so that every other caller tries another port. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  socket.bind(port, '127.0.0.1');
  return once(socket, 'listening').then(
    () => true,
    () => false,
  );
}

/** Return whether the port is free of servers that got it in another way. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    async () => {
      server.close();
      await once(server, 'close');
      return true;
    },
    () => false,
  );
}
