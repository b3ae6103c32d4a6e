import { isTerminal } from '@yardmaster/protocol';
import { Refused, Unavailable } from './service/call.js';
import type { StreamMessage } from './service/message.js';
import { type Terminal, writeLines } from './terminal/region.js';

/** An exit code, with the meaning that `--help` and docs/cli show. */
export interface ExitCode {
  code: number;
  meaning: string;
}

// Scripts rely on these numbers: never give one of them a new meaning.

/** Exit codes of every command: 128 + SIGINT, and 128 + SIGPIPE. */
const BY_SIGNAL = {
  interrupted: { code: 130, meaning: 'you pressed Ctrl-C' },
  // Not 0, which would mean that the job completed.
  outputClosed: { code: 141, meaning: 'standard output was closed, for example by `head`' },
};

/** Exit codes of `watch` and `logs`. */
export const EXIT = {
  completed: { code: 0, meaning: 'the job completed' },
  refused: { code: 1, meaning: 'the service refused the request: invalid or revoked key, or unknown job' },
  usage: { code: 2, meaning: 'the command line is invalid' },
  dead: { code: 3, meaning: 'the job is dead: it failed for good, or no worker acked it in time' },
  killed: { code: 4, meaning: 'the job was killed' },
  unknown: { code: 5, meaning: 'the job ended, but only a key with jobs:read can see how' },
  timedOut: { code: 124, meaning: '--timeout expired' }, // As in timeout(1).
  ...BY_SIGNAL,
} as const satisfies Record<string, ExitCode>;

const REFUSED = 'the service refused the request, for example because of the key or a field';

/** Exit codes of commands that make a call and exit. */
export const CALL_EXIT = {
  done: { code: 0, meaning: 'success' },
  refused: { code: 1, meaning: `${REFUSED}; or you did not confirm the change` },
  usage: EXIT.usage,
  unavailable: { code: 6, meaning: 'the service was unreachable or unavailable, or the outcome is unknown' },
  ...BY_SIGNAL,
} as const satisfies Record<string, ExitCode>;

/** Exit codes of `create`. With `--wait`, they match those of `watch`. */
export const CREATE_EXIT = {
  created: { code: 0, meaning: 'the job was created and, with --wait, completed' },
  refused: { code: 1, meaning: REFUSED },
  usage: EXIT.usage,
  dead: EXIT.dead,
  killed: EXIT.killed,
  unavailable: CALL_EXIT.unavailable,
  timedOut: { code: 124, meaning: '--wait expired before the job ended' },
  ...BY_SIGNAL,
} as const satisfies Record<string, ExitCode>;

/** Exit codes of `work`. */
export const WORK_EXIT = {
  drained: { code: 0, meaning: 'a signal stopped the worker, and no job was left running' },
  refused: { code: 1, meaning: 'the service refused the worker, or the program could not be started' },
  usage: EXIT.usage,
  unreported: { code: 6, meaning: 'the worker stopped, but could not report the outcome of every job' },
  crashed: { code: 70, meaning: 'internal error; the stack trace is on standard error' },
  interrupted: { code: 130, meaning: 'you pressed Ctrl-C a second time' },
  quit: { code: 131, meaning: 'the worker received SIGQUIT' },
  outputClosed: BY_SIGNAL.outputClosed,
  terminated: { code: 143, meaning: 'the worker received a second SIGTERM' },
} as const satisfies Record<string, ExitCode>;

/** Exit codes of `dev`. */
export const DEV_EXIT = {
  stopped: { code: 0, meaning: 'SIGTERM or Ctrl-C stopped the service' },
  failed: { code: 1, meaning: 'the service failed or could not start' },
  usage: EXIT.usage,
  interrupted: { code: 130, meaning: 'you pressed Ctrl-C three times' },
  terminated: { code: 143, meaning: 'the command received SIGTERM three times' },
} as const satisfies Record<string, ExitCode>;

/** Exit codes of `fsck`, for scripts that continue only if the data is consistent. */
export const FSCK_EXIT = {
  clean: { code: 0, meaning: 'no faults remain; show: the record was printed' },
  faults: { code: 1, meaning: 'faults remain; show: the job does not exist' },
  unchecked: { code: 2, meaning: 'the check failed: invalid command line, no Redis, or no data with the prefix' },
  ...BY_SIGNAL,
} as const satisfies Record<string, ExitCode>;

/** Format exit codes for the end of a help text. */
export const exitCodesHelp = (codes: Record<string, ExitCode>) =>
  `\nExit codes:\n${Object.values(codes)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}\n`)
    .join('')}`;

/** Format the end of the help of a command that requires an API key: its scopes, and the exit codes. */
export const keyHelp = (scopes: string, codes: Record<string, ExitCode> = CALL_EXIT) =>
  `\nRequires an API key with ${scopes}.\n${exitCodesHelp(codes)}`;

/** How a command ended. */
export interface Outcome {
  exit: ExitCode;
  /** The reason, printable; null if the output has already shown it. */
  sentence: string | null;
}

/** The outcome of a call that succeeded. */
export const DONE: Outcome = { exit: CALL_EXIT.done, sentence: null };

/** Print lines and return success. */
export function done(out: Terminal, lines: string[]): Outcome {
  writeLines(out, lines);
  return DONE;
}

/**
 * Return the exit code for the final status of a job; null if it hasn't ended.
 *
 * Even an `init` can have a final status, because the job may have ended before the stream opened.
 */
export function exitOf({ type, status }: StreamMessage): ExitCode | null {
  if (type === 'completed') return EXIT.completed; // Messages with progress scope have no status.
  return isTerminal(status) ? EXIT[status] : null;
}

/** The outcome when a stream closed without a message that shows how the job ended. */
export const ENDED_UNSEEN: Outcome = {
  exit: EXIT.unknown,
  sentence: 'the job has ended, but only an API key with jobs:read can see how',
};

/**
 * Return the outcome of a call that failed for good.
 *
 * @throws the error itself if it is a bug
 */
export function failureOf(error: unknown): Outcome {
  if (error instanceof Refused) return { exit: CALL_EXIT.refused, sentence: error.message };
  if (error instanceof Unavailable) {
    return { exit: CALL_EXIT.unavailable, sentence: `the service is unavailable: ${error.message}` };
  }
  throw error;
}

/** Return the outcome when `--timeout` expires. */
export const gaveUpAfter = (seconds: number | null): Outcome => ({
  exit: EXIT.timedOut,
  sentence: `timed out after ${seconds} s`,
});
