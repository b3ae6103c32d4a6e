import { once } from 'node:events';
import net from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';

/** An answer as it came. */
export interface Answer {
  status: number;
  headers: [name: string, value: string][];
  body: Buffer;
}

export interface Exchange {
  /** In order; fewer than asked for when the connection was closed before, or nothing came for too long. */
  answers: Answer[];
  /** The last answer says that it is the last one of this connection. */
  isEnded: boolean;
  isHung: boolean;
  /** What came and is no answer. */
  rest: Buffer;
  /** What was sent before. */
  before: Buffer | null;
}

export interface Asked {
  pieces: Buffer[];
  /** Method of each request that is sent. */
  methods: string[];
  /** Say that nothing more comes, and wait until the service closes. */
  end: boolean;
}

/**
 * How long an answer may take, in milliseconds: a service that is busy has 2 s, and a machine that is busy as well some
 * more.
 */
const PATIENCE_MS = 20_000;

const EMPTY = Buffer.alloc(0);

/** A connection that sends whatever it is told to, and takes what comes. */
export class Connection {
  readonly #socket: net.Socket;
  #received: Buffer = EMPTY;
  #wake: () => void = () => undefined;
  #before: Buffer | null = null;

  constructor(port: number) {
    this.#socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.#socket.on('error', () => undefined); // A reset is a way to end, too.
    this.#socket.on('close', () => this.#wake());
  }

  get isOpen(): boolean {
    return (
      !this.#socket.destroyed &&
      this.#socket.writable &&
      this.#socket.readyState !== 'closed' &&
      !this.#socket.readableEnded
    );
  }

  async exchange({ pieces, methods, end }: Asked): Promise<Exchange> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    const sent = this.#send(pieces, end);
    const answers: Answer[] = [];
    for (;;) {
      const found = answerIn(this.#received, methods[answers.length] ?? 'GET');
      if (found !== null) {
        this.#received = this.#received.subarray(found.bytes);
        if (found.answer.status >= 200) answers.push(found.answer);
        continue;
      }
      if (answers.length >= methods.length && !end) break;
      if (this.#socket.closed || performance.now() > giveUpAt) break;
      await this.#change(giveUpAt);
    }
    // An answer may come before all is written, and what is sent next must not come in between.
    await sent;
    const before = this.#before;
    this.#before = Buffer.concat(pieces);
    const isHung = !this.#socket.closed && (end || answers.length < methods.length);
    const isEnded = answers.some(({ headers }) =>
      headers.some(([name, value]) => name === 'connection' && value === 'close'),
    );
    return { answers, isEnded, isHung, rest: this.#received, before };
  }

  async #send(pieces: Buffer[], end: boolean): Promise<void> {
    if (this.#socket.connecting) await once(this.#socket, 'connect').catch(() => undefined);
    for (const piece of pieces) {
      if (!this.#socket.writable) return;
      this.#socket.write(piece);
      if (pieces.length > 1) await immediate();
    }
    if (end && this.#socket.writable) this.#socket.end();
  }

  #change(giveUpAt: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, giveUpAt - performance.now()));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async close(): Promise<void> {
    if (this.#socket.closed) return;
    this.#socket.destroy();
    await once(this.#socket, 'close');
  }
}

/** The answer that some bytes begin with, once it is whole. */
function answerIn(bytes: Buffer, method: string): { answer: Answer; bytes: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${first} `)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return null;
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const length = Number(headers.find(([name]) => name === 'content-length')?.[1] ?? 0);
  const hasNone = method === 'HEAD' || status < 200 || status === 204 || status === 304;
  const from = headEnd + 4;
  const to = hasNone ? from : from + length;
  if (bytes.length < to) return null;
  return { answer: { status, headers, body: bytes.subarray(from, to) }, bytes: to };
}
