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
