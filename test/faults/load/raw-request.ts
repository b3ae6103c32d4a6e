import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../within.js';

/** What came of bytes that were sent to an API. */
export interface RawOutcome {
  /** Of the first answer; null when there was none. */
  status: number | null;
  /** Its body, as far as it came. */
  text: string;
  /** Whether the API closed the connection, or it broke; else nobody did in time. */
  isClosed: boolean;
  tookMs: number;
}

export interface RawRequest {
  /** Sent at once. */
  head: string | Buffer;
  /** Sent after it again and again, for as long as there is a taker, with this pause. */
  again?: { bytes: Buffer; everyMs: number };
  /** How long it may take until the connection is closed, milliseconds. */
  withinMs: number;
}

/** Send bytes on a connection of their own, whatever they mean, and see what comes of it. */
export async function sendRaw(url: string, { head, again, withinMs }: RawRequest): Promise<RawOutcome> {
  const { hostname, port } = new URL(url);
  const began = Date.now();
  let answer = '';
  const socket = net.connect(Number(port), hostname).setNoDelay();
  socket.on('error', () => undefined); // A reset is a way to end, too.
  socket.on('data', (bytes) => {
    answer += bytes.toString('latin1');
  });
  const closed = new Promise<true>((resolve) => socket.on('close', () => resolve(true)));
  socket.write(head);
  if (again) void pour(socket, again);
  const isClosed = (await within(withinMs, closed)) === true;
  socket.destroy();
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(answer) ?? [];
  const text = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return { status: status === undefined ? null : Number(status), text, isClosed, tookMs: Date.now() - began };
}

async function pour(socket: net.Socket, { bytes, everyMs }: { bytes: Buffer; everyMs: number }): Promise<void> {
  while (!socket.destroyed) {
    // Not faster than it is taken: what waits here would only be memory of the test.
    if (socket.writableLength < bytes.length) socket.write(bytes);
    await delay(everyMs);
  }
}
