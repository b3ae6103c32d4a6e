export interface Random {
  /** A whole number from 0 to below this one. */
  below(count: number): number;
  /** One of a list. */
  of<T>(list: readonly T[]): T;
  /** Whether something that is likely by so much happens now. */
  chance(likelihood: number): boolean;
}

/** Numbers that look random and are the same for the same seed (mulberry32), so that a failure can be seen again. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    below,
    of: (list) => list[below(list.length)] as (typeof list)[number],
    chance: (likelihood) => next() < likelihood,
  };
}
