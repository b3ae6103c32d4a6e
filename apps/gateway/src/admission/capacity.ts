import { YardmasterError } from '@yardmaster/protocol';
import { PerKey } from '@yardmaster/store';

/**
 * Functions that release the resources of a stream, such as its channel. Streams use them from the first check to the
 * end of the socket.
 */
export class ReleaseStack {
  #releases: (() => void)[] | null = [];

  /** Add a function. It is called at once if everything is released already, because the client has disconnected. */
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

/** A limit for the streams that one address, key or job may have at once. It counts them from their admission on. */
export class ConnectionLimit {
  readonly #streams = new PerKey();

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
    if (this.#streams.get(id) >= limit) {
      throw new YardmasterError('TOO_MANY_STREAMS', `Too many streams are open ${this.streams}; the limit is ${limit}`);
    }
    this.#streams.add(id, 1);
    return () => this.#streams.add(id, -1);
  }
}
