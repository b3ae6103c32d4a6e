/**
 * What waits, by whose it is: each owner in turn, and of one owner the oldest first, so that one who has much waiting holds up
 * no other.
 */
export class FairQueue<T> {
  /** The owner whose turn is next stands first. */
  readonly #byOwner = new Map<string, T[]>();
  #size = 0;

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  push(owner: string, item: T): void {
    const own = this.#byOwner.get(owner);
    if (own) own.push(item);
    else this.#byOwner.set(owner, [item]);
    this.#size++;
  }

  /**
   * Take what is next.
   *
   * @param isLast owners who come after all others
   */
  shift(isLast: (owner: string) => boolean = () => false): { owner: string; item: T } | undefined {
    let next: string | undefined;
    for (const owner of this.#byOwner.keys()) {
      next ??= owner;
      if (isLast(owner)) continue;
      next = owner;
      break;
    }
    if (next === undefined) return undefined;
    const own = this.#byOwner.get(next) as T[];
    const item = own.shift() as T;
    this.#byOwner.delete(next);
    if (own.length > 0) this.#byOwner.set(next, own);
    this.#size--;
    return { owner: next, item };
  }

  /** Drop the oldest of an owner, who keeps its turn. */
  drop(owner: string): void {
    const own = this.#byOwner.get(owner);
    if (own === undefined) return;
    own.shift();
    if (own.length === 0) this.#byOwner.delete(owner);
    this.#size--;
  }
}
