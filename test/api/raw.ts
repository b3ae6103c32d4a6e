import { once } from 'node:events';
import net from 'node:net';
import { until } from '../support/until.js';

/** An answer as it came over the wire. */
export interface RawAnswer {
  status: number;
  /** Names in small letters. */
  headers: Record<string, string>;
  text: string;
}

/** A socket on which a test writes what no HTTP client would. */
export class RawClient {
  readonly socket: net.Socket;
  #received = '';

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = net.connect(Number(port), hostname);
    this.socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text;
    });
    this.socket.on('error', () => undefined); // A reset is a way to end, too.
  }

  /** Answers that arrived so far, in order. Ours always say their length. */
  get answers(): RawAnswer[] {
    const answers: RawAnswer[] = [];
    for (let rest = this.#received; rest.includes('\r\n\r\n'); ) {
      const end = rest.indexOf('\r\n\r\n');
      const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
      );
      const length = Number(headers['content-length'] ?? 0);
      if (rest.length < end + 4 + length) break;
      answers.push({ status: Number(statusLine.split(' ')[1]), headers, text: rest.slice(end + 4, end + 4 + length) });
      rest = rest.slice(end + 4 + length);
    }
    return answers.filter(({ status }) => status !== 100);
  }

  /** Wait for so many answers, or for the end of the connection. */
  async answered(count: number): Promise<RawAnswer[]> {
    await until(() => this.socket.closed || this.answers.length >= count);
    return this.answers;
  }

  closed(): Promise<RawAnswer[]> {
    return this.answered(Number.POSITIVE_INFINITY);
  }
}

/** Give a test a raw socket that is gone when the test is over. */
export async function withRaw<T>(url: string, use: (raw: RawClient) => Promise<T>): Promise<T> {
  const raw = new RawClient(url);
  try {
    return await use(raw);
  } finally {
    raw.socket.destroy();
    if (!raw.socket.closed) await once(raw.socket, 'close');
  }
}

/** Write bytes to a connection of their own, and wait until it closes. */
export const sendRaw = (url: string, bytes: string): Promise<RawAnswer[]> =>
  withRaw(url, (raw) => {
    raw.socket.write(bytes, 'latin1');
    return raw.closed();
  });

const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 32), Buffer.from('\r\n')]);

/** Write chunk after chunk of a body until the server hangs up or has taken `bytes`. @returns how many it has taken */
export async function pour(socket: net.Socket, bytes: number): Promise<number> {
  let sent = 0;
  for (; sent < bytes && !socket.destroyed; sent += CHUNK.length)
    await new Promise<void>((taken) => socket.write(CHUNK, () => taken()));
  return sent;
}
