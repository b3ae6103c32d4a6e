import type { Fault, FaultKind, FsckProgress } from '@yardmaster/fsck';
import type { Io } from '../command.js';
import { printableJson } from '../terminal/printable.js';

/** Reports the findings of a check. */
export interface Report {
  /**
   * Report a fault.
   *
   * @returns a promise to wait for if the reader is slower than the check, or null
   */
  fault(fault: Fault): Promise<unknown> | null;
  progress(progress: FsckProgress): void;
  /**
   * Report the end of the check.
   *
   * @returns number of faults that are left
   */
  end(seen: FsckProgress, isInterrupted: boolean): number;
  /** Clean up after a failed check. */
  close(): void;
}

/** Create a report that prints each fault as one line of JSON as it is found, and a summary as the last line. */
export function jsonReport({ out, waitForDrain }: Io): Report {
  const tally = new Tally(0);
  const print = (value: object) => out.write(`${printableJson(JSON.stringify(value))}\n`);
  return {
    fault(fault) {
      tally.add(fault);
      print({ type: 'fault', ...fault });
      return waitForDrain();
    },
    progress: () => undefined,
    end(seen, isInterrupted) {
      const { keysInAll: _, ...checked } = seen;
      const { left, repaired } = tally;
      print({ type: 'summary', complete: !isInterrupted, left, repaired, kinds: tally.counts(), checked });
      return left;
    },
    close: () => undefined,
  };
}

/** Faults of one kind. */
export interface Kind {
  left: number;
  repaired: number;
  /** Faults that `--repair` would repair. */
  repairable: number;
  /** The first faults of the kind. */
  samples: Fault[];
}

/** Counts faults, and keeps only the first few of each kind, because there may be millions. */
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

  /** Return the number of faults of each kind, repaired or not. */
  counts(): Partial<Record<FaultKind, number>> {
    return Object.fromEntries([...this.kinds].map(([name, { left, repaired }]) => [name, left + repaired]));
  }
}
