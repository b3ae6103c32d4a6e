import { YardmasterError } from '@yardmaster/protocol';

/** A limit for the streams that one address, key or job may have at once. It counts them from their admission on. */
export class ConnectionLimit {
  readonly #counts = new Map<string, number>();

  /**
   * @param limit streams at once for each id
   * @param streams the counted streams, as the refusal names them: `for this job`
   */
  constructor(
    readonly limit: number,
    readonly streams: string,
  ) {}

  /**
   * Count one more stream of an id.
   *
   * @param limit a lower limit, for streams that must not use the last part of the capacity
   * @returns a function that releases the stream, which must be called only once
   * @throws TOO_MANY_STREAMS
   */
  acquire(id: string, limit = this.limit): () => void {
    const count = this.#counts.get(id) ?? 0;
    if (count >= limit) {
      throw new YardmasterError('TOO_MANY_STREAMS', `Too many streams are open ${this.streams}; the limit is ${limit}`);
    }
    this.#counts.set(id, count + 1);
    return () => {
      const left = (this.#counts.get(id) ?? 1) - 1;
      if (left === 0) this.#counts.delete(id);
      else this.#counts.set(id, left);
    };
  }
}
