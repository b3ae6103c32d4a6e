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
