/** What a stream holds from its first check to the end of its socket, given back all at once. */
export class Holds {
  #releases: (() => void)[] | null = [];

  /** Take one more thing; when all is given back already, since whoever asked could not wait, at once this too. */
  add(release: () => void): void {
    if (this.#releases === null) release();
    else this.#releases.push(release);
  }

  /** Give everything back, once. */
  releaseAll(): void {
    const releases = this.#releases ?? [];
    this.#releases = null;
    for (const release of releases) release();
  }
}
