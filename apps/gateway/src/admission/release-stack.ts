/** What a stream retains from its first check to the end of its socket. It is released all at once. */
export class ReleaseStack {
  #releases: (() => void)[] | null = [];

  /** Add a release. It is called at once when everything is released already, because the client did not wait. */
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
