/**
 * The short run, which CI makes of every change in under eight minutes: of each kind of fault one, and the mutants without
 * which nobody would know that the rules still see anything.
 */
export const SHORT_FAULTS: readonly string[] = [
  'F1',
  'F2-after-sweep',
  'F3',
  'F4-1.5s',
  'F5-always',
  'F11-api-stranded',
  'F12-cut',
  'F15',
  'F19',
  'F25',
  'F27-heard',
];

export const SHORT_MUTANTS: readonly string[] = [
  'complete does not look whether the job runs',
  'the deadline of a job that is handed out is written after the script',
  'the debt of a callback is written after the script that ends the job',
];
