import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const open = new WeakMap<Server, Set<Socket>>();

/** Know the sockets of a server from now on. */
export function trackSockets(server: Server): void {
  const sockets = new Set<Socket>();
  open.set(server, sockets);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}

/** A socket speaks HTTP no more, and is somebody else's to close. */
export function forgetSocket(server: Server, socket: Duplex): void {
  open.get(server)?.delete(socket as Socket);
}

/** Sockets of a server that speak HTTP. */
export const socketsOf = (server: Server): ReadonlySet<Socket> => open.get(server) ?? new Set();
