import { YardmasterError } from '@yardmaster/protocol';

/** A limit of the streams that are open, or about to be opened, for each id. */
export class ConnectionLimit {
  readonly #taken = new Map<string, number>();

  /**
   * @param limit streams at once for each id
   * @param of what an id stands for, as the refusal names it: `this job`
   */
  constructor(
    readonly limit: number,
    readonly of: string,
  ) {}

  /**
   * Count one more stream of an id.
   *
   * @param limit a lower limit, for streams that must not take the last places
   * @returns a function that releases the stream, which must be called only once
   * @throws TOO_MANY_STREAMS
   */
  acquire(id: string, limit = this.limit): () => void {
    const taken = this.#taken.get(id) ?? 0;
    if (taken >= limit) {
      throw new YardmasterError('TOO_MANY_STREAMS', `Too many streams of ${this.of} are open; the limit is ${limit}`);
    }
    this.#taken.set(id, taken + 1);
    return () => {
      const left = (this.#taken.get(id) ?? 1) - 1;
      if (left === 0) this.#taken.delete(id);
      else this.#taken.set(id, left);
    };
  }
}
