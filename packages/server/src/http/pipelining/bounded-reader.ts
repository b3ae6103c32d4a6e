import type { HttpSocket } from '../connection.js';

interface ReaderOptions {
  /** Called with the bytes that Node has read, in place of Node's parser. */
  onData: (bytes: Buffer) => void;
  /** Whether Node may make the socket continue; when it must not, `onResumeRefused` is called. */
  mayResume: () => boolean;
  onResumeRefused: () => void;
}

/**
 * Takes over the reading of a socket from Node, so that nothing more is read or parsed until `resume` is called.
 *
 * Three parts of the socket are replaced: its `data` listener, which is Node's parser, `_read` and `resume`.
 */
export class BoundedReader {
  /** Node's own parser of these bytes. */
  readonly parse: (bytes: Buffer) => void;
  readonly #socket: HttpSocket;
  readonly #onData: (bytes: Buffer) => void;
  /** The socket's own `resume`. */
  readonly #resumeSocket: () => HttpSocket;
  #isReading = true;

  constructor(socket: HttpSocket, { onData, mayResume, onResumeRefused }: ReaderOptions) {
    this.#socket = socket;
    this.#onData = onData;
    const [parse] = socket.listeners('data') as [(bytes: Buffer) => void];
    this.parse = parse;
    socket.off('data', parse);
    // From now on Node passes on the bytes without parsing them first.
    socket.on('data', onData);
    // A paused socket reads on until it has 16 KB, and gets 64 KB at a time.
    const read = socket._read.bind(socket);
    socket._read = (size) => {
      if (this.#isReading) read(size);
    };
    this.#resumeSocket = socket.resume.bind(socket);
    // Node resumes a socket whenever a request's body is read, or responses are read.
    socket.resume = () => {
      if (mayResume()) this.resume();
      else onResumeRefused();
      return socket;
    };
    this.stop();
  }

  /** Stop reading. A socket that is only paused reads the same amount again, and keeps it itself. */
  stop(): void {
    this.#socket.pause();
    this.#setReading(false);
  }

  /** Continue reading. */
  resume(): void {
    this.#resumeSocket();
    this.#setReading(true);
  }

  /** Give the socket back, for an upgrade: its new owner reads `rest` first. */
  release(rest: Buffer): void {
    this.#socket.off('data', this.#onData);
    this.#socket.resume = () => {
      this.resume();
      return this.#socket;
    };
    this.#setReading(true);
    this.#socket.unshift(rest);
  }

  /** Make the system's handle of the socket read, or stop reading, at once. */
  #setReading(isReading: boolean): void {
    this.#isReading = isReading;
    const handle = this.#socket._handle;
    if (!handle || handle.reading === isReading) return;
    handle.reading = isReading;
    if (isReading) handle.readStart();
    else handle.readStop();
  }
}

/** Bytes that Node reads at once. */
const READ_BYTES = 65_536;

/** Memory that is no longer in use, and how many pieces of it are kept for reuse. */
const unused: Buffer[] = [];
const UNUSED_AT_MOST = 256;

interface Piece {
  memory: Buffer;
  from: number;
  to: number;
}

/**
 * Bytes of a connection that wait to be parsed, copied into memory that is reused. The buffers that Node reads into
 * would wait so long that V8 treats them as long-lived, and frees 40 MB of them at a time.
 */
export class ByteQueue {
  #pieces: Piece[] = [];
  #isTaken = false;

  /** How many pieces wait. */
  get count(): number {
    return this.#pieces.length;
  }

  add(bytes: Buffer): void {
    const fits = bytes.length <= READ_BYTES;
    const memory = (fits ? unused.pop() : undefined) ?? Buffer.allocUnsafeSlow(fits ? READ_BYTES : bytes.length);
    bytes.copy(memory);
    this.#pieces.push({ memory, from: 0, to: bytes.length });
  }

  /**
   * Take out the oldest bytes, at most `most` and only from one piece.
   *
   * @param use must not keep them, because their memory is reused
   * @returns whether there were any
   */
  take(most: number, use: (bytes: Buffer) => void): boolean {
    const [oldest] = this.#pieces;
    if (oldest === undefined) return false;
    const { memory, from, to } = oldest;
    oldest.from = Math.min(to, from + most);
    if (oldest.from === to) this.#pieces.shift();
    use(memory.subarray(from, oldest.from));
    if (oldest.from === to && !this.#isTaken) keepForReuse([oldest]);
    return true;
  }

  /** Take out all bytes for good. Their memory and the current piece are not reused. */
  takeAll(): Buffer {
    this.#isTaken = true;
    return Buffer.concat(this.#pieces.splice(0).map(({ memory, from, to }) => memory.subarray(from, to)));
  }

  clear(): void {
    keepForReuse(this.#pieces.splice(0));
  }
}

function keepForReuse(pieces: readonly Piece[]): void {
  for (const { memory } of pieces)
    if (memory.length === READ_BYTES && unused.length < UNUSED_AT_MOST) unused.push(memory);
}
