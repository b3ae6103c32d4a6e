import type { Fault, FaultKind } from '@yardmaster/store';

/** Faults of one kind. */
export interface Kind {
  left: number;
  mended: number;
  /** Those that a repair would mend. */
  mendable: number;
  /** The first of them. */
  samples: Fault[];
}

/** Counts faults, and keeps the first of each kind: a broken Redis may have millions. */
export class Tally {
  left = 0;
  mended = 0;
  mendable = 0;
  readonly kinds = new Map<FaultKind, Kind>();
  readonly #samples: number;

  /** @param samples kept of each kind */
  constructor(samples: number) {
    this.#samples = samples;
  }

  add(fault: Fault): void {
    const kind = this.kinds.get(fault.kind) ?? { left: 0, mended: 0, mendable: 0, samples: [] };
    this.kinds.set(fault.kind, kind);
    for (const count of [this, kind]) {
      if (fault.repair === 'done') count.mended++;
      else count.left++;
      if (fault.repair === 'possible') count.mendable++;
    }
    if (kind.samples.length < this.#samples) kind.samples.push(fault);
  }

  /** How many there were of each kind, mended or not. */
  counts(): Partial<Record<FaultKind, number>> {
    return Object.fromEntries([...this.kinds].map(([name, { left, mended }]) => [name, left + mended]));
  }
}
