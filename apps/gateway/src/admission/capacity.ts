import { YardmasterError } from '@yardmaster/protocol';
import { PerKey } from '@yardmaster/store';

/** Functions that release the resources of a stream, such as its channel, from the first check to the end of the socket. */
export class ReleaseStack {
  #releases: (() => void)[] | null = [];

  /** Add a function. If everything has been released because the client disconnected, call it immediately. */
  add(release: () => void): void {
    if (this.#releases === null) release();
    else this.#releases.push(release);
  }

  /** Release everything, once. */
  releaseAll(): void {
    const releases = this.#releases ?? [];
    this.#releases = null;
    for (const release of releases) release();
  }
}

/** Limits the open streams per address, tenant or job, counted from their admission. */
export class ConnectionLimit {
  readonly #streams = new PerKey();

  /**
   * @param limit maximum number of open streams per ID
   * @param streams phrase for the counted streams, for errors: `for this job`
   */
  constructor(
    readonly limit: number,
    readonly streams: string,
  ) {}

  /**
   * Count one more stream of an ID.
   *
   * @param limit lower limit, for streams that must not use up the last part of the capacity
   * @returns a function that releases the stream. Call it only once
   * @throws TOO_MANY_STREAMS
   */
  acquire(id: string, limit = this.limit): () => void {
    if (this.#streams.get(id) >= limit) {
      throw new YardmasterError('TOO_MANY_STREAMS', `Too many streams are open ${this.streams}; the limit is ${limit}`);
    }
    this.#streams.add(id, 1);
    return () => this.#streams.add(id, -1);
  }
}
