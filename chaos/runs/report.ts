import type { Evidence, Violation } from '../rules/rule.js';
import { latenessOf, timeoutsOf } from '../rules/timeouts.js';
import type { Figures } from './fault.js';

/** Counts of a run, by their names in the table. */
export type Counts = Record<string, number>;

/** Lateness of the latest timeout. For several runs, the maximum rather than the sum. */
const LATEST = 'latest timeout, ms';

export function countsOf(evidence: Evidence): Counts {
  const { calls, cases, streams, outages } = evidence;
  const outcomes = (outcome: string) => calls.filter((call) => call.outcome === outcome).length;
  const sum = (of: (one: Evidence['cases'][number]) => number) => cases.reduce((all, one) => all + of(one), 0);
  const timeouts = timeoutsOf(evidence);
  return {
    jobs: sum(({ job }) => (job === null ? 0 : 1)),
    calls: calls.length,
    refused: outcomes('refused'),
    'not now': outcomes('not now'),
    unknown: outcomes('unknown'),
    claims: sum(({ claims }) => claims.length),
    timeouts: timeouts.length,
    [LATEST]: Math.max(0, ...timeouts.map((timeout) => latenessOf(timeout, outages))),
    events: sum(({ job }) => job?.events.length ?? 0),
    logs: sum(({ job }) => job?.logs.length ?? 0),
    callbacks: sum(({ callbacks }) => callbacks.length),
    streams: streams.length,
    messages: streams.reduce((all, { messages }) => all + messages.length, 0),
  };
}

/** Add the counts of several runs. */
export function sumOf(runs: readonly Counts[]): Counts {
  const all: Counts = {};
  for (const counts of runs)
    for (const [what, count] of Object.entries(counts))
      all[what] = what === LATEST ? Math.max(all[what] ?? 0, count) : (all[what] ?? 0) + count;
  return all;
}

/** The result of one run. */
export interface Summary {
  name: string; // Name of the fault or the mutant.
  title: string;
  seed: number;
  counts: Counts;
  violations: readonly Violation[];
  notJudged: readonly Violation[]; // Missed deadlines that prove nothing because the machine stalled.
  stalled: number; // Share of the time in which the machine stalled.
  figures: Figures;
  breaks?: readonly string[]; // Promises that must be reported as broken; only for a mutant.
}

const PRINTED = 20; // Violations printed per run; the history has all of them.

const promisesOf = (violations: readonly Violation[]): string[] =>
  [...new Set(violations.map(({ promise }) => promise))].sort();

/** List the promises that a mutant breaks but that were neither reported nor left unjudged. */
function unseen({ breaks = [], violations, notJudged }: Summary): string[] {
  const seen = promisesOf([...violations, ...notJudged]);
  return breaks.filter((promise) => !seen.includes(promise));
}

/** Check that a run breaks no promise; a mutant must break its own. */
export const isGood = (run: Summary) => (run.breaks ? unseen(run).length === 0 : run.violations.length === 0);

/** Format a violation as a sentence. */
export const sentenceOf = ({ promise, rule, jobId, says, lines }: Violation) =>
  `  ${promise} ${rule}: ${jobId ?? ''} ${says}${lines.length > 0 ? ` (lines ${lines})` : ''}`;

/** Describe the result of a run, and how to repeat it. */
export function describe(run: Summary): string {
  const { name, seed, violations, notJudged, breaks } = run;
  if (breaks) return `${name}: broken ${promisesOf(violations).join(' ')}, not seen ${unseen(run).join(' ') || 'none'}`;
  const unjudged = notJudged.length > 0 ? `, ${notJudged.length} not judged because the machine stalled` : '';
  const result = `${name}: ${violations.length} violations${unjudged}`;
  if (violations.length === 0) return result;
  return [
    result,
    ...violations.slice(0, PRINTED).map(sentenceOf),
    `  history: .cache/faults/${seed}-${name}.jsonl, with .log and .dump.json`,
    `  repeat: npm run test:long -- faults --seed ${seed} --only ${name}`,
  ].join('\n');
}

type Row = Record<string, string | number>;

function rowOfFault({ name, title, counts, violations, notJudged, stalled, figures }: Summary): Row {
  const damage = (kind: string) => violations.filter((one) => one.damage === kind).length;
  const all = Object.entries(figures).map((each) => each.join(': '));
  return {
    fault: name,
    'what happens': title,
    ...counts,
    ...{ lost: damage('lost'), duplicated: damage('duplicated'), late: damage('late') },
    ...{ violations: violations.length, 'not judged': notJudged.length },
    ...{ stalled: `${Math.round(100 * stalled)} %`, figures: all.join('; ') },
  };
}

function rowOfMutant(run: Summary): Row {
  const { name, title, breaks = [], violations } = run;
  const isProven = breaks.every((promise) => promisesOf(violations).includes(promise));
  const seen = isProven ? 'yes' : unseen(run).length === 0 ? 'only while the machine stalled' : 'no';
  const reported = promisesOf(violations).join(' ');
  return { mutant: name, 'what is wrong': title, breaks: breaks.join(' '), reported, seen };
}

/** Format the runs as Markdown tables for docs/reliability/fault-table.md. */
export const tables = (runs: readonly Summary[]): string =>
  [runs.filter(({ breaks }) => !breaks).map(rowOfFault), runs.filter(({ breaks }) => breaks).map(rowOfMutant)]
    .filter((rows) => rows.length > 0)
    .map((rows) => `\n${markdown([Object.keys(rows[0] as Row), ...rows.map(Object.values)])}\n`)
    .join('');

/** Format rows as a Markdown table, with the first row as its head. */
export const markdown = ([head = [], ...rows]: readonly (readonly unknown[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
