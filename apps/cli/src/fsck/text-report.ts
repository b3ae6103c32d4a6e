import { FAULTS, type Fault, type FaultKind, type FsckProgress } from '@yardmaster/fsck';
import { bold, dim, green, plain, red, yellow } from '../color.js';
import type { Channels } from '../display.js';
import type { Format } from '../options.js';
import { clip, printable } from '../printable.js';
import { ProgressLine } from './progress-line.js';
import { type Kind, Tally } from './tally.js';

/** What reports the findings of a check. */
export interface Report {
  /**
   * Report a fault.
   *
   * @returns a promise to wait for when the reader is slower than the check, else null
   */
  fault(fault: Fault): Promise<unknown> | null;
  progress(progress: FsckProgress): void;
  /**
   * Report the end of the check.
   *
   * @returns how many faults are left
   */
  end(seen: FsckProgress, isInterrupted: boolean): number;
  /** Called when the check could not be made. */
  close(): void;
}

export interface ReportOptions {
  out: Channels['out'] & { isTTY?: boolean };
  err: Channels['err'] & { isTTY?: boolean; columns?: number };
  drained: () => Promise<unknown> | null;
  isRepairing: boolean;
  isVerbose: boolean;
  format: Format;
}

/** How many faults of each kind are shown, unless all are. */
const SAMPLES = 20;

/** Columns of what is printed of a fault. `--json` prints all of it. */
const DETAIL_COLUMNS = 300;

/**
 * Create a report that groups faults by kind at the end.
 *
 * With `isVerbose`, each fault is a line when it is found, and the groups are only counts.
 */
export function textReport(options: ReportOptions): Report {
  const { out, err, drained, isRepairing, isVerbose, format } = options;
  const began = performance.now();
  const isColored = format === 'auto' && out.isTTY === true;
  const color = isColored
    ? { bold, dim, green, red, yellow }
    : { bold: plain, dim: plain, green: plain, red: plain, yellow: plain };
  const tally = new Tally(isVerbose ? 0 : SAMPLES);
  const line = new ProgressLine(format === 'auto' && err.isTTY === true ? err : null);
  const print = (text: string) => out.write(`${text}\n`);

  const printGroup = (name: FaultKind, kind: Kind) => {
    const count = kind.left + kind.repaired;
    print(color.bold(`${number(count)} × ${FAULTS[name].meaning}: ${fateOf(name, kind, isRepairing)}`));
    for (const fault of kind.samples) print(`  ${lineOf(fault)}`);
    const more = count - kind.samples.length;
    if (!isVerbose && more > 0) print(color.dim(`  and ${number(more)} more, which --verbose shows`));
  };

  return {
    fault(fault) {
      tally.add(fault);
      if (!isVerbose) return null;
      line.clear();
      print(`${fault.kind}${fault.repair === 'done' ? ' mended' : ''}  ${lineOf(fault)}`);
      return drained();
    },
    progress: (progress) => line.show(progress, tally),
    end(seen, isInterrupted) {
      line.clear();
      for (const [name, kind] of tally.kinds) printGroup(name, kind);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      print(`${isInterrupted ? 'Interrupted: checked' : 'Checked'} ${whatOf(seen)} in ${seconds} s.`);
      if (seen.uncounted > 0) {
        print(`Of ${number(seen.uncounted)} spaces the names were not counted: jobs were purged all the while.`);
      }
      const shade = tally.left > 0 ? color.red : tally.repaired > 0 ? color.yellow : color.green;
      print(shade(verdictOf(tally, isRepairing)));
      return tally.left;
    },
    close: () => line.clear(),
  };
}

const number = (count: number) => count.toLocaleString('en').replaceAll(',', ' ');

function lineOf({ jobId, key, detail, repair }: Fault): string {
  const job = jobId !== null && !key.includes(jobId) ? `${jobId} in ` : '';
  const failed = repair === 'failed' ? 'NOT MENDED ' : '';
  return clip(`${failed}${job}${printable(key)}: ${printable(detail)}`, DETAIL_COLUMNS);
}

function fateOf(name: FaultKind, { left, repaired }: Kind, isRepairing: boolean): string {
  const { repair } = FAULTS[name];
  if (repair === null) return 'left as it is';
  if (!isRepairing) return `--repair: ${repair}`;
  return left === 0 ? repair : `${number(repaired)} ${repair}, ${number(left)} not mended`;
}

const whatOf = ({ keys, jobs, entries, spaces, apiKeys }: FsckProgress) =>
  `${number(keys)} keys: ${number(jobs)} jobs, ${number(entries)} index entries, ${number(spaces)} spaces, ${number(apiKeys)} API keys,`;

function verdictOf({ left, repaired, repairable }: Tally, isRepairing: boolean): string {
  if (left === 0) return repaired === 0 ? 'Nothing is wrong.' : `All ${number(repaired)} faults are mended.`;
  if (isRepairing) return `${number(repaired)} faults are mended, ${number(left)} are left.`;
  return `${number(left)} faults; --repair would mend ${number(repairable)} of them.`;
}
