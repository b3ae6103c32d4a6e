/** Predicate on tenants. */
type Choice = (tenant: string) => boolean;
const NONE: Choice = () => false;

interface Queued<T> {
  item: T;
  units: number;
}

/**
 * A queue in which tenants take turns, so that a tenant with many items delays no other. The items of one tenant are in
 * order. A turn is worth one unit of work; a tenant whose item costs more skips turns afterwards (deficit round robin).
 */
export class FairQueue<T> {
  /** Items by tenant. The tenant whose turn is next comes first. */
  readonly #byTenant = new Map<string, Queued<T>[]>();
  /** Units that tenants have used beyond their turns, forgotten when the queue is empty. */
  readonly #debts = new PerKey();
  #size = 0;

  /** Number of waiting items. */
  get size(): number {
    return this.#size;
  }

  /** Add an item. @param units cost of the item; a create costs 1 */
  push(tenant: string, item: T, units = 1): void {
    const own = this.#byTenant.get(tenant);
    if (own) own.push({ item, units });
    else this.#byTenant.set(tenant, [{ item, units }]);
    this.#size++;
  }

  /** Charge a tenant for work that was not known when its item was pushed. */
  charge(tenant: string, units: number): void {
    if (this.#size > 0) this.#debts.add(tenant, units);
  }

  /**
   * Remove and return the next item.
   *
   * @param isLast selects tenants that come after all others
   * @param isBlocked selects tenants that get no turn now
   */
  shift(isLast: Choice = NONE, isBlocked: Choice = NONE): { tenant: string; item: T } | undefined {
    for (;;) {
      const tenant = this.#next(isLast, isBlocked);
      if (tenant === undefined) return undefined;
      const own = this.#byTenant.get(tenant) as Queued<T>[];
      this.#byTenant.delete(tenant);
      const isAlone = this.#byTenant.size === 0;
      if (!isAlone && this.#debts.get(tenant) >= 1) {
        this.#debts.add(tenant, -1);
        this.#byTenant.set(tenant, own);
        continue;
      }
      const { item, units } = own.shift() as Queued<T>;
      if (own.length > 0) this.#byTenant.set(tenant, own);
      this.#size--;
      // A tenant that is alone takes nothing from others.
      if (isAlone) this.#debts.clear();
      this.#debts.add(tenant, units - 1);
      return { tenant, item };
    }
  }

  #next(isLast: Choice, isBlocked: Choice): string | undefined {
    let next: string | undefined;
    for (const tenant of this.#byTenant.keys()) {
      if (isBlocked(tenant)) continue;
      if (!isLast(tenant)) return tenant;
      next ??= tenant;
    }
    return next;
  }

  /** Drop the oldest item of a tenant. The tenant keeps its turn. */
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

  clear(): void {
    this.#amounts.clear();
  }

  add(key: string, amount: number): void {
    const sum = this.get(key) + amount;
    if (sum > 0) this.#amounts.set(key, sum);
    else this.#amounts.delete(key);
  }
}
