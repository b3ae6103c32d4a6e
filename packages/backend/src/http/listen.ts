import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** For so long a server that is about to close still answers, and says `Connection: close` with each answer. */
const LEAD_MS = 300;

/** Start listening. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

const connectionsOf = (server: Server) =>
  new Promise<number>((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));

/**
 * Accept nothing new and wait for the open requests; their connections close as they fall idle.
 *
 * Before that, a moment in which clients that are busy hear that their connection ends: one that writes on it just as
 * it is closed could not know whether its request was done.
 *
 * @param withinMs after which whoever is still open is cut off
 */
export async function drain(server: Server, withinMs: number): Promise<void> {
  if (!server.listening) return;
  if ((await connectionsOf(server)) > 0) await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
  const closed = new Promise((resolve) => server.close(resolve));
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const limit = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(limit);
}

/** `http://127.0.0.1:8080`, of a server that listens. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
