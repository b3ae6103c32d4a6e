import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const open = new WeakMap<Server, Set<Socket>>();

/** Track the sockets of a server from now on. */
export function trackSockets(server: Server): void {
  const sockets = new Set<Socket>();
  open.set(server, sockets);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}

/** Forget a socket that no longer speaks HTTP: its new owner closes it. */
export function forgetSocket(server: Server, socket: Duplex): void {
  open.get(server)?.delete(socket as Socket);
}

/** Return the sockets of a server that speak HTTP. */
export const socketsOf = (server: Server): ReadonlySet<Socket> => open.get(server) ?? new Set();
