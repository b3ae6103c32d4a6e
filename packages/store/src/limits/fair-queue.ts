/**
 * Queue of items by tenant. Tenants take turns, and the oldest item of a tenant comes first, so that a tenant with many
 * items delays no other.
 */
export class FairQueue<T> {
  /** The tenant whose turn is next comes first. */
  readonly #byTenant = new Map<string, T[]>();
  #size = 0;

  /** Number of items that wait. */
  get size(): number {
    return this.#size;
  }

  push(tenant: string, item: T): void {
    const own = this.#byTenant.get(tenant);
    if (own) own.push(item);
    else this.#byTenant.set(tenant, [item]);
    this.#size++;
  }

  /**
   * Remove and return the next item.
   *
   * @param isLast tenants that come after all others
   */
  shift(isLast: (tenant: string) => boolean = () => false): { tenant: string; item: T } | undefined {
    let next: string | undefined;
    for (const tenant of this.#byTenant.keys()) {
      next ??= tenant;
      if (isLast(tenant)) continue;
      next = tenant;
      break;
    }
    if (next === undefined) return undefined;
    const own = this.#byTenant.get(next) as T[];
    const item = own.shift() as T;
    this.#byTenant.delete(next);
    if (own.length > 0) this.#byTenant.set(next, own);
    this.#size--;
    return { tenant: next, item };
  }

  /** Drop the oldest item of a tenant, which keeps its turn. */
  drop(tenant: string): void {
    const own = this.#byTenant.get(tenant);
    if (own === undefined) return;
    own.shift();
    if (own.length === 0) this.#byTenant.delete(tenant);
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
