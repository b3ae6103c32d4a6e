import type { Summary } from './summary.js';

/** Violations of one run that are printed; the history has them all. */
const PRINTED = 20;

const COLUMNS: [title: string, of: (run: Summary) => string | number][] = [
  ['fault', ({ name }) => name],
  ['', ({ title }) => title],
  ['jobs', ({ jobs }) => jobs],
  ['operations', ({ operations }) => operations],
  ['refused', ({ refused }) => refused],
  ['unknown', ({ unknown }) => unknown],
  ['lost', ({ lost }) => lost],
  ['duplicated', ({ duplicated }) => duplicated],
  ['worst lateness', ({ worstLatenessMs }) => `${worstLatenessMs} ms`],
  ['violations', ({ violations }) => violations.length],
  [
    'figures',
    ({ figures }) =>
      Object.entries(figures)
        .map((each) => each.join(': '))
        .join(', '),
  ],
];

/** What was found in one run, in sentences, and how to see it again. */
export function told({ name, seed, violations }: Summary): string {
  const sentences = violations
    .slice(0, PRINTED)
    .map(({ promise, rule, jobId, says, lines }) => `${promise} ${rule}: ${jobId ?? ''} ${says} (lines ${lines})`);
  const more = violations.length > PRINTED ? [`and ${violations.length - PRINTED} more`] : [];
  return [
    ...sentences,
    ...more,
    `history: .cache/faults/${seed}-${name}.jsonl`,
    `again: FAULT_SEED=${seed} FAULT_ONLY=${name} npm run test:faults`,
  ].join('\n');
}

/** A row for each run, in columns. */
export function table(runs: readonly Summary[]): string {
  const rows = [COLUMNS.map(([title]) => title), ...runs.map((run) => COLUMNS.map(([, of]) => String(of(run))))];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((row) => (row[i] as string).length)));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] as number)).join('  ')).join('\n');
}
