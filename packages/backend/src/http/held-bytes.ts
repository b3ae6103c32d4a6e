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
 * Bytes of a connection that wait to be parsed, in memory that is used again and again. Those that Node has read would be
 * freed only once V8 collects all of its heap, since they wait for longer than new objects live: 40 MB at a time.
 */
export class HeldBytes {
  #pieces: Piece[] = [];

  /** How many times something was added that has not been taken yet. */
  get count(): number {
    return this.#pieces.length;
  }

  add(bytes: Buffer): void {
    const fits = bytes.length <= READ_BYTES;
    const memory = (fits ? unused.pop() : undefined) ?? Buffer.allocUnsafeSlow(fits ? READ_BYTES : bytes.length);
    bytes.copy(memory);
    this.#pieces.push({ memory, from: 0, to: bytes.length });
  }

  /** Take the oldest, but not more than so many: a copy. */
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
