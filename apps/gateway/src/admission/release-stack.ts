/** Functions that release what a stream uses from its first check to the end of its socket, such as its channel. */
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
