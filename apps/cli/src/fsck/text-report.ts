import { FAULTS, type Fault, type FaultKind, type FsckProgress } from '@yardmaster/fsck';
import type { Io } from '../command.js';
import type { Format } from '../flags.js';
import { bold, dim, green, plain, red, yellow } from '../terminal/color.js';
import { clip, printable } from '../terminal/printable.js';
import { sizeOf, type Terminal } from '../terminal/region.js';
import { type Kind, type Report, Tally } from './report.js';

export interface TextReportOptions {
  /** Whether the check repairs faults. */
  isRepairing: boolean;
  /** Whether to print every fault, not only the first few of each kind. */
  isVerbose: boolean;
  format: Format;
}

/** Number of faults of each kind to print without `--verbose`. */
const SAMPLES = 20;

/** Maximum columns of a fault. `--json` prints it in full. */
const DETAIL_COLUMNS = 300;

/**
 * Create a report that groups faults by kind at the end.
 *
 * With `isVerbose`, it prints each fault as it is found, and only counts at the end.
 */
export function textReport(
  { isRepairing, isVerbose, format }: TextReportOptions,
  { out, err, waitForDrain }: Io,
): Report {
  const began = performance.now();
  const color =
    format === 'auto' && out.isTTY
      ? { bold, dim, green, red, yellow }
      : { bold: plain, dim: plain, green: plain, red: plain, yellow: plain };
  const tally = new Tally(isVerbose ? 0 : SAMPLES);
  const line = new ProgressLine(format === 'auto' && err.isTTY ? err : null);
  const print = (text: string) => out.write(`${text}\n`);

  const printGroup = (name: FaultKind, kind: Kind) => {
    const count = kind.left + kind.repaired;
    print(color.bold(`${number(count)} × ${FAULTS[name].meaning} (${resultOf(name, kind, isRepairing)})`));
    for (const fault of kind.samples) print(`  ${lineOf(fault)}`);
    const more = count - kind.samples.length;
    if (!isVerbose && more > 0) print(color.dim(`  and ${number(more)} more; use --verbose to see them all`));
  };

  return {
    fault(fault) {
      tally.add(fault);
      if (!isVerbose) return null;
      line.clear();
      print(`${fault.kind}${fault.repair === 'done' ? ' repaired' : ''}  ${lineOf(fault)}`);
      return waitForDrain();
    },
    progress: (progress) => line.show(progress, tally),
    end(seen, isInterrupted) {
      line.clear();
      for (const [name, kind] of tally.kinds) printGroup(name, kind);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      print(`${isInterrupted ? 'Interrupted: checked' : 'Checked'} ${checkedOf(seen)} in ${seconds} s.`);
      if (seen.uncounted > 0) {
        print(`Job names were not counted in ${number(seen.uncounted)} spaces, because jobs were purged too fast.`);
      }
      const shade = tally.left > 0 ? color.red : tally.repaired > 0 ? color.yellow : color.green;
      print(shade(summaryOf(tally, isRepairing)));
      return tally.left;
    },
    close: () => line.clear(),
  };
}

const number = (count: number) => count.toLocaleString('en');

function lineOf({ jobId, key, detail, repair }: Fault): string {
  const job = jobId !== null && !key.includes(jobId) ? `${jobId} in ` : '';
  const failed = repair === 'failed' ? 'NOT REPAIRED ' : '';
  return clip(`${failed}${job}${printable(key)}: ${printable(detail)}`, DETAIL_COLUMNS);
}

function resultOf(name: FaultKind, { left, repaired }: Kind, isRepairing: boolean): string {
  const { repair } = FAULTS[name];
  if (repair === null) return 'left as is';
  if (!isRepairing) return `with --repair: ${repair}`;
  return left === 0 ? repair : `${number(repaired)} ${repair}, ${number(left)} not repaired`;
}

const checkedOf = ({ keys, jobs, entries, spaces, apiKeys }: FsckProgress) =>
  `${number(keys)} keys: ${number(jobs)} jobs, ${number(entries)} index entries, ${number(spaces)} spaces, ${number(apiKeys)} API keys,`;

function summaryOf({ left, repaired, repairable }: Tally, isRepairing: boolean): string {
  if (left === 0 && repaired === 0) return 'No faults found.';
  if (isRepairing) return `Faults: ${number(repaired)} repaired, ${number(left)} left.`;
  return `Faults: ${number(left)}; --repair can repair ${number(repairable)} of them.`;
}

/** Interval between redraws. Faster ones would not be visible. */
const DRAW_EVERY_MS = 100;

/** A terminal line that shows the progress of a check, redrawn in place. */
class ProgressLine {
  readonly #terminal: Terminal | null;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isShown = false;

  /** @param terminal null to show nothing */
  constructor(terminal: Terminal | null) {
    this.#terminal = terminal;
  }

  show({ keys, jobs, keysInAll }: FsckProgress, { left, repaired }: Pick<Tally, 'left' | 'repaired'>): void {
    if (this.#terminal === null || performance.now() - this.#drawnAt < DRAW_EVERY_MS) return;
    this.#drawnAt = performance.now();
    this.#isShown = true;
    // There may be more keys than when the check started, and SCAN may return a key twice.
    const percent = Math.min(100, Math.floor((100 * keys) / Math.max(1, keysInAll)));
    const text = `${percent}% of ${number(keysInAll)} keys, ${number(jobs)} jobs, ${number(left)} faults, ${number(repaired)} repaired`;
    this.#terminal.write(`\r\u001b[2K${clip(text, sizeOf(this.#terminal).columns - 1)}`);
  }

  clear(): void {
    if (this.#isShown) this.#terminal?.write('\r\u001b[2K');
    this.#isShown = false;
  }
}
