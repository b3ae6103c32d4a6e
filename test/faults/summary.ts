import { evidenceOf, type Record } from './checker.js';
import { type Counts, countsOf } from './counts.js';
import { type Fault, type Figures, nameOf } from './fault.js';
import type { Call } from './history.js';
import type { Lag } from './lag.js';
import type { Damage, Violation } from './rules/rule.js';
import { latenessOf, timeOutsOf } from './rules/time-outs.js';

/** What is told of one run. */
export interface Summary {
  /** As `nameOf` the fault. */
  name: string;
  title: string;
  promises: readonly string[];
  seed: number;
  /** Jobs created a second. */
  rate: number;
  /** Calls made, and how many of them were refused or of unknown outcome. */
  operations: number;
  refused: number;
  unknown: number;
  jobs: number;
  lost: number;
  duplicated: number;
  /** Worst lateness of a time-out, less the time in which nobody could meet it, milliseconds. */
  worstLatenessMs: number;
  counts: Counts;
  figures: Figures;
  violations: Violation[];
}

interface Judged {
  fault: Fault;
  seed: number;
  rate: number;
  record: Record;
  lag: Lag;
  violations: Violation[];
  figures: Figures;
}

export function summaryOf({ fault, seed, rate, record, lag, violations, figures }: Judged): Summary {
  const calls = record.entries.filter((entry) => entry.kind === 'call');
  const count = (outcome: Call['outcome']) => calls.filter((call) => call.outcome === outcome).length;
  const damaged = (damage: Damage) => violations.filter((violation) => violation.damage === damage).length;
  const timeOuts = timeOutsOf(evidenceOf(record));
  return {
    name: nameOf(fault),
    title: fault.title,
    promises: fault.promises,
    seed,
    rate,
    operations: calls.length,
    refused: count('refused'),
    unknown: count('unknown'),
    jobs: record.dump.jobs.length,
    lost: damaged('lost'),
    duplicated: damaged('duplicated'),
    worstLatenessMs: Math.max(0, ...timeOuts.map((timeOut) => latenessOf(timeOut, record.outages))),
    counts: countsOf(record, lag),
    figures,
    violations,
  };
}
