import type { FsckProgress } from '@yardmaster/fsck';
import type { Output } from '../display.js';
import { clip } from '../printable.js';

/** Time between two draws. An eye does not see more than this. */
const DRAW_EVERY_MS = 100;

/** One line on a terminal that shows how far a check is. It is drawn over in place. */
export class ProgressLine {
  readonly #terminal: (Output & { columns?: number }) | null;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isShown = false;

  /** @param terminal null to show nothing */
  constructor(terminal: (Output & { columns?: number }) | null) {
    this.#terminal = terminal;
  }

  show({ keys, jobs, keysInAll }: FsckProgress, { left, repaired }: { left: number; repaired: number }): void {
    if (this.#terminal === null || performance.now() - this.#drawnAt < DRAW_EVERY_MS) return;
    this.#drawnAt = performance.now();
    this.#isShown = true;
    // There may be more keys now than when the check began, and some keys are met twice.
    const percent = Math.min(100, Math.floor((100 * keys) / Math.max(1, keysInAll)));
    const text = `${percent}% of ${keysInAll} keys, ${jobs} jobs, ${left} faults, ${repaired} mended`;
    this.#terminal.write(`\r\u001b[2K${clip(text, (this.#terminal.columns || 80) - 1)}`);
  }

  clear(): void {
    if (this.#isShown) this.#terminal?.write('\r\u001b[2K');
    this.#isShown = false;
  }
}
