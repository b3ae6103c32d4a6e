import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a receiver does after reading a request. */
export type Behaviour = (response: ServerResponse, socket: Socket) => void;

/** Send an HTTP response. */
export const respondWith =
  (status: number, headers: OutgoingHttpHeaders = {}, body = ''): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Write raw bytes and end the connection. */
export const raw =
  (bytes: string): Behaviour =>
  (_, socket) =>
    socket.end(bytes, 'latin1');

/** Write raw bytes and keep the connection open. */
export const rawThenHang =
  (bytes: string): Behaviour =>
  (_, socket) =>
    socket.write(bytes, 'latin1');

/** Write raw bytes and reset the connection. */
export const rawThenReset =
  (bytes: string): Behaviour =>
  (_, socket) =>
    socket.write(bytes, 'latin1', () => socket.resetAndDestroy());

export const hang: Behaviour = () => undefined;
export const reset: Behaviour = (_, socket) => socket.resetAndDestroy();
export const endConnection: Behaviour = (_, socket) => socket.end();

/** Write a start, and then repeat a text as fast as the client reads, until it disconnects. */
export const endless =
  (beginning: string, again: string): Behaviour =>
  (_, socket) => {
    const piece = Buffer.from(again.repeat(Math.ceil(16_384 / again.length)), 'latin1');
    const pour = () => {
      while (!socket.destroyed && socket.write(piece));
      if (!socket.destroyed) socket.once('drain', pour);
    };
    socket.write(beginning, 'latin1', pour);
  };

/** Write a start, and then a chunk every 100 ms. */
export const dripping =
  (beginning: string, piece: string): Behaviour =>
  (_, socket) => {
    socket.write(beginning, 'latin1');
    const timer = setInterval(() => socket.write(piece, 'latin1'), 100);
    socket.on('close', () => clearInterval(timer));
  };
