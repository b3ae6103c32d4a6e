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
