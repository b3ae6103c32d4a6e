import type { Fault, FaultKind } from '@yardmaster/fsck';

/** Faults of one kind. */
export interface Kind {
  left: number;
  repaired: number;
  /** Faults that `--repair` would repair. */
  repairable: number;
  /** The first faults of the kind. */
  samples: Fault[];
}

/** Counts faults, and keeps only the first of each kind, because a broken Redis may have millions. */
export class Tally {
  left = 0;
  repaired = 0;
  repairable = 0;
  readonly kinds = new Map<FaultKind, Kind>();
  readonly #samples: number;

  /** @param samples number of faults to keep of each kind */
  constructor(samples: number) {
    this.#samples = samples;
  }

  add(fault: Fault): void {
    const kind = this.kinds.get(fault.kind) ?? { left: 0, repaired: 0, repairable: 0, samples: [] };
    this.kinds.set(fault.kind, kind);
    for (const count of [this, kind]) {
      if (fault.repair === 'done') count.repaired++;
      else count.left++;
      if (fault.repair === 'possible') count.repairable++;
    }
    if (kind.samples.length < this.#samples) kind.samples.push(fault);
  }

  /** Return how many faults there were of each kind, repaired or not. */
  counts(): Partial<Record<FaultKind, number>> {
    return Object.fromEntries([...this.kinds].map(([name, { left, repaired }]) => [name, left + repaired]));
  }
}
