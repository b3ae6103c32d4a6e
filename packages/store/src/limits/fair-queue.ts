/**
 * Queue of items by owner. Owners take turns, and the oldest item of an owner comes first, so that an owner with many
 * items delays no other.
 */
export class FairQueue<T> {
  /** The owner whose turn is next comes first. */
  readonly #byOwner = new Map<string, T[]>();
  #size = 0;

  /** Number of items that wait. */
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
   * Remove and return the next item.
   *
   * @param isLast owners that come after all others
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

  /** Drop the oldest item of an owner, which keeps its turn. */
  drop(owner: string): void {
    const own = this.#byOwner.get(owner);
    if (own === undefined) return;
    own.shift();
    if (own.length === 0) this.#byOwner.delete(owner);
    this.#size--;
  }
}

/** Amounts by key, such as the open streams of each address. A key without an amount takes no memory. */
export class PerKey {
  readonly #amounts = new Map<string, number>();

  get(key: string): number {
    return this.#amounts.get(key) ?? 0;
  }

  add(key: string, amount: number): void {
    const sum = this.get(key) + amount;
    if (sum > 0) this.#amounts.set(key, sum);
    else this.#amounts.delete(key);
  }
}
