import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { ADMIN_KEY } from '../support/service.js';
import { until } from '../support/until.js';

/** Every connection that is open, for `hangUp`. */
const open = new Set<net.Socket>();

/** A connection on which a test sends as no decent client would: too little, too slowly, or without end. */
export class RawSender {
  readonly #socket: net.Socket;
  #received = '';

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = net.connect(Number(port), hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (bytes) => {
      this.#received += bytes.toString('latin1');
    });
    this.#socket.on('error', () => undefined); // A reset is a way to end, too.
    open.add(this.#socket);
  }

  get isClosed(): boolean {
    return this.#socket.closed;
  }

  /** Begin an append of these headers. */
  begin(jobId: string, headers: Record<string, string | number>): void {
    const lines = Object.entries({ host: 'localhost', 'x-api-key': ADMIN_KEY, ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    this.#socket.write(`POST /api/v1/jobs/${jobId}/logs HTTP/1.1\r\n${head}\r\n`);
  }

  /** Write, and wait until it is on its way or the connection is gone. */
  async write(bytes: string | Buffer): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
    // A write that is taken at once would leave no time to read the answer, and a reset takes what is unread along.
    await immediate();
  }

  /** Write as one chunk of a chunked body. */
  async writeChunk(bytes: Buffer): Promise<void> {
    await this.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
  }

  /** End the connection in order, or by a reset. */
  end(): void {
    this.#socket.end();
  }
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Status of the answer; null when there is none. */
  get status(): number | null {
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(this.#received) ?? [];
    return status === undefined ? null : Number(status);
  }

  async closed(withinMs?: number): Promise<number | null> {
    await until(() => this.isClosed, withinMs);
    return this.status;
  }
}

/** Close all that a test has opened. */
export async function hangUp(): Promise<void> {
  for (const socket of open) {
    socket.destroy();
    if (!socket.closed) await once(socket, 'close');
  }
  open.clear();
}
