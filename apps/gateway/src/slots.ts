import { YardmasterError } from '@yardmaster/protocol';

/** Streams that are open, or about to be, for each of something, up to a limit. */
export class Slots {
  readonly #taken = new Map<string, number>();

  /**
   * @param limit streams at once for each id
   * @param of what the ids are, as the refusal says it: `this job`
   */
  constructor(
    readonly limit: number,
    readonly of: string,
  ) {}

  /**
   * Take a place.
   *
   * @param limit fewer than the limit, for those who may not take the last places
   * @returns a function that gives it back, to be called once
   * @throws TOO_MANY_STREAMS
   */
  take(id: string, limit = this.limit): () => void {
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
