/**
 * Exit codes of `watch` and `logs`. Scripts rely on these numbers, so no number must ever get another meaning.
 *
 * | Code | The command ended because |
 * |---|---|
 * | 0 | the job completed |
 * | 1 | it was refused, or cannot go on |
 * | 2 | the command line is wrong |
 * | 3 | the job is dead |
 * | 4 | the job was killed |
 * | 5 | the job ended, and this key has no right to see how |
 * | 124 | `--timeout` was over; timeout(1) uses the same number |
 * | 130 | the user pressed Ctrl-C: 128 + SIGINT |
 * | 141 | its output was closed: 128 + SIGPIPE. Not 0, because 0 would mean that the job completed |
 */
export const EXIT = {
  completed: 0,
  refused: 1,
  usage: 2,
  dead: 3,
  killed: 4,
  unknown: 5,
  timedOut: 124,
  interrupted: 130,
  outputClosed: 141,
} as const;

/** What each code of `watch` and `logs` means, for people. `--help` and docs/cli.md show the same texts. */
export const EXIT_MEANINGS: Record<keyof typeof EXIT, string> = {
  completed: 'the job completed',
  refused: 'refused, or cannot be watched: bad key, unknown job, key revoked',
  usage: 'wrong command line',
  dead: 'the job is dead: it failed and no retries remain, or no worker acked it',
  killed: 'the job was killed',
  unknown: 'the job ended, and this key may not know how (no key, or jobs:read:progress)',
  timedOut: 'gave up after --timeout',
  interrupted: 'Ctrl-C',
  outputClosed: 'nobody reads the output any more',
};

/** Exit codes of `fsck`, for scripts that go on when nothing is wrong. No number must ever get another meaning. */
export const FSCK_EXIT = {
  clean: 0,
  faults: 1,
  unchecked: 2,
  interrupted: 130,
  outputClosed: 141,
} as const;

/** What each code of `fsck` means, for people. `--help` and docs/cli.md show the same texts. */
export const FSCK_EXIT_MEANINGS: Record<keyof typeof FSCK_EXIT, string> = {
  clean: 'nothing is wrong, or all that was is mended',
  faults: 'something is wrong and not mended',
  unchecked: 'could not check: wrong command line, Redis away, no Yardmaster data under this prefix',
  interrupted: 'Ctrl-C',
  outputClosed: 'nobody reads the output any more',
};

/** Exit codes of `format`. No number must ever get another meaning. */
export const FORMAT_EXIT = {
  done: 0,
  newer: 1,
  failed: 2,
  interrupted: 130,
  outputClosed: 141,
} as const;

/** What each code of `format` means, for people. `--help` and docs/cli.md show the same texts. */
export const FORMAT_EXIT_MEANINGS: Record<keyof typeof FORMAT_EXIT, string> = {
  done: 'the format is shown, or raised, or was the highest that this release knows',
  newer: 'the format is of a newer release',
  failed: 'could not: wrong command line, Redis away, no Yardmaster data under this prefix',
  interrupted: 'Ctrl-C',
  outputClosed: 'nobody reads the output any more',
};
