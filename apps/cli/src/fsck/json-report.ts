import { printableJson } from '../printable.js';
import { Tally } from './tally.js';
import type { Report, ReportOptions } from './text-report.js';

/** Create a report that prints each fault as one JSON line when it is found, and a summary as the last line. */
export function jsonReport({ out, drained }: Pick<ReportOptions, 'out' | 'drained'>): Report {
  const tally = new Tally(0);
  const print = (value: object) => out.write(`${printableJson(JSON.stringify(value))}\n`);
  return {
    fault(fault) {
      tally.add(fault);
      print({ type: 'fault', ...fault });
      return drained();
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
