import { once } from 'node:events';
import net from 'node:net';

export interface RawResponse {
  status: number;
  /** Headers by lowercase name. The values of a repeated header are joined by commas. */
  headers: Record<string, string>;
  text: string;
}

/** A connection on which a test can write bytes that no HTTP client would. */
export class RawClient {
  readonly socket: net.Socket;
  #received = Buffer.alloc(0);
  #wake: () => void = () => undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = net.connect({ port: Number(port), host: hostname, noDelay: true });
    this.socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    this.socket.on('close', () => this.#wake());
    this.socket.on('error', () => undefined); // A reset also ends the connection.
  }

  /** Responses received so far, in order, the bytes after them, and how often the server said 100 Continue. */
  get received(): { responses: RawResponse[]; rest: Buffer; continues: number } {
    const responses: RawResponse[] = [];
    let continues = 0;
    for (let rest = this.#received; ; ) {
      const found = responseIn(rest);
      if (found === null) return { responses, rest, continues };
      rest = rest.subarray(found.bytes);
      if (found.response.status === 100) continues++;
      if (found.response.status >= 200) responses.push(found.response);
    }
  }

  get responses(): RawResponse[] {
    return this.received.responses;
  }

  /** Wait for this many responses, or for the end of the connection. */
  async receive(count: number): Promise<RawResponse[]> {
    // Not with `once`, which throws if the connection is reset.
    while (this.responses.length < count && !this.socket.closed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.responses;
  }

  /** Wait for the end of the connection, and return the responses. */
  closed(): Promise<RawResponse[]> {
    return this.receive(Number.POSITIVE_INFINITY);
  }
}

/** Parse the response at the start of some bytes, once it is complete. Ours always have a Content-Length. */
export function responseIn(received: Buffer, method?: string): { response: RawResponse; bytes: number } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const from = end + 4;
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})\b/.exec(first)?.[1] ?? 0);
  if (status === 0) return null;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [name = '', value = ''] = line.split(/: *(.*)/s);
    const before = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = before === undefined ? value : `${before}, ${value}`;
  }
  const hasNone = method === 'HEAD' || status < 200 || status === 204 || status === 304;
  const to = from + (hasNone ? 0 : Number(headers['content-length'] ?? 0));
  return received.length < to
    ? null
    : { response: { status, headers, text: received.toString('utf8', from, to) }, bytes: to };
}

/** Run a function with a raw connection and close the connection afterwards. */
export async function withRaw<T>(url: string, use: (raw: RawClient) => Promise<T>): Promise<T> {
  const raw = new RawClient(url);
  try {
    return await use(raw);
  } finally {
    raw.socket.destroy();
    if (!raw.socket.closed) await once(raw.socket, 'close');
  }
}

/** Write bytes to a new connection and wait until it closes. */
export const sendRaw = (url: string, bytes: string): Promise<RawResponse[]> =>
  withRaw(url, (raw) => {
    raw.socket.write(bytes, 'latin1');
    return raw.closed();
  });

const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 32), Buffer.from('\r\n')]);

/** Write chunks of a body until the server disconnects or has read `bytes`. @returns how many bytes were written */
export async function pour(socket: net.Socket, bytes: number): Promise<number> {
  let sent = 0;
  for (; sent < bytes && !socket.destroyed; sent += CHUNK.length)
    await new Promise<void>((taken) => socket.write(CHUNK, () => taken()));
  return sent;
}
