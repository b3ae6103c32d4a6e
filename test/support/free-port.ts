import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that a system gives to connections, and to servers that ask for any: Linux begins at 32768. */
const [FIRST, LAST] = [20_000, 32_767];

/**
 * Find a port of 127.0.0.1 for a server that must come back on the same one, or cannot choose by itself. Until this
 * process ends no other caller gets it, in whatever process. A port that is only free just now may be another's a moment later.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
}

/** Take the UDP port of this number, which no server of ours needs. Every other caller finds it taken and tries another. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  socket.bind(port, '127.0.0.1');
  return once(socket, 'listening').then(
    () => true,
    () => false,
  );
}

/** Whether no server listens there that was given its port in another way. */
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
