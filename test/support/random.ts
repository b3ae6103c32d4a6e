/** Random choices that a seed reproduces: mulberry32, whose 32 bits are enough for a test. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** Draw a number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Draw a whole number from 0 (inclusive) to this one (exclusive). */
  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }

  /** Draw a whole number, both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** Draw an item of a non-empty list. */
  of<T>(some: readonly T[]): T {
    return some[this.between(0, some.length - 1)] as T;
  }

  /** Draw a key with a probability proportional to its weight. */
  weighted<T extends string>(weights: Readonly<Partial<Record<T, number>>>): T {
    const rows = Object.entries(weights) as [T, number][];
    let left = this.fraction() * rows.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [what, weight] of rows) {
      left -= weight;
      if (left < 0) return what;
    }
    return (rows.at(-1) as [T, number])[0];
  }
}
