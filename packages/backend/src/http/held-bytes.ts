/** As much as Node reads at once. */
const READ_BYTES = 65_536;

/** Memory in which nothing is held any more, and how many pieces of it are kept to be used again. */
const unused: Buffer[] = [];
const UNUSED_AT_MOST = 256;

interface Piece {
  memory: Buffer;
  from: number;
  to: number;
}

/**
 * Bytes of a connection that wait to be parsed, copied into memory that is used again. The buffers that Node reads into would
 * wait so long that V8 takes them for long-lived, and frees 40 MB of them at a time.
 */
export class HeldBytes {
  #pieces: Piece[] = [];

  /** How many pieces are held. */
  get count(): number {
    return this.#pieces.length;
  }

  add(bytes: Buffer): void {
    const fits = bytes.length <= READ_BYTES;
    const memory = (fits ? unused.pop() : undefined) ?? Buffer.allocUnsafeSlow(fits ? READ_BYTES : bytes.length);
    bytes.copy(memory);
    this.#pieces.push({ memory, from: 0, to: bytes.length });
  }

  /** Take a copy of the oldest bytes, at most so many of one piece; null when nothing is held. */
  take(most: number): Buffer | null {
    const [oldest] = this.#pieces;
    if (oldest === undefined) return null;
    const { memory, from, to } = oldest;
    const taken = Buffer.from(memory.subarray(from, Math.min(to, from + most)));
    oldest.from += taken.length;
    if (oldest.from === to) giveBack(this.#pieces.splice(0, 1));
    return taken;
  }

  clear(): void {
    giveBack(this.#pieces.splice(0));
  }
}

function giveBack(pieces: readonly Piece[]): void {
  for (const { memory } of pieces)
    if (memory.length === READ_BYTES && unused.length < UNUSED_AT_MOST) unused.push(memory);
}
