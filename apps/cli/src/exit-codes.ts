import { isTerminal } from '@yardmaster/protocol';
import { Refused, Unavailable } from './service/call.js';
import type { StreamMessage } from './service/message.js';
import { type Terminal, writeLines } from './terminal/region.js';

/** An exit code. `--help` and docs/cli show its meaning. */
export interface ExitCode {
  code: number;
  meaning: string;
}

/** Exit codes of every command: 128 + SIGINT, and 128 + SIGPIPE. */
const BY_SIGNAL = {
  interrupted: { code: 130, meaning: 'Ctrl-C was pressed' },
  // The code is not 0, because 0 would mean that the job completed.
  outputClosed: { code: 141, meaning: 'the output was closed, for example by `head`' },
};

/** Exit codes of `watch` and `logs`. Scripts rely on these numbers, so a number must never get another meaning. */
export const EXIT = {
  completed: { code: 0, meaning: 'the job completed' },
  refused: { code: 1, meaning: 'the request was refused: invalid or revoked key, or unknown job' },
  usage: { code: 2, meaning: 'the command line is invalid' },
  dead: { code: 3, meaning: 'the job is dead: it failed and is not retried, or no worker acked it in time' },
  killed: { code: 4, meaning: 'the job was killed' },
  unknown: { code: 5, meaning: 'the job ended, but only a key with jobs:read can see its status' },
  timedOut: { code: 124, meaning: 'the time limit of --timeout was over' }, // As in timeout(1).
  ...BY_SIGNAL,
} as const satisfies Record<string, ExitCode>;

const REFUSED = 'the service refused the call, for example because of the key or a field';

/** Exit codes of commands that make a call and end. A number must never get another meaning. */
export const CALL_EXIT = {
  done: { code: 0, meaning: 'the command did what it says' },
  refused: { code: 1, meaning: `${REFUSED}; or you did not confirm it` },
  usage: EXIT.usage,
  unavailable: { code: 6, meaning: 'the service could not be reached, or could not serve the call, for 30 s' },
  ...BY_SIGNAL,
} as const satisfies Record<string, ExitCode>;

/** Exit codes of `create`. With `--wait` they are those of `watch`. A number must never get another meaning. */
export const CREATE_EXIT = {
  created: { code: 0, meaning: 'the job was created; with --wait: and it completed' },
  refused: { code: 1, meaning: REFUSED },
  usage: EXIT.usage,
  dead: EXIT.dead,
  killed: EXIT.killed,
  unavailable: CALL_EXIT.unavailable,
  timedOut: { code: 124, meaning: 'the time of --wait was over, and the job had not ended' },
  ...BY_SIGNAL,
} as const satisfies Record<string, ExitCode>;

/** Exit codes of `work`. A number must never get another meaning. */
export const WORK_EXIT = {
  drained: { code: 0, meaning: 'a signal stopped the worker, and no job was left running' },
  refused: { code: 1, meaning: 'the service refuses the worker, or the program cannot be started' },
  usage: EXIT.usage,
  unreported: { code: 6, meaning: 'the worker ended, but could not report the end of every job' },
  crashed: { code: 70, meaning: 'internal error; see the standard error for the stack trace' },
  interrupted: { code: 130, meaning: 'Ctrl-C was pressed a second time' },
  quit: { code: 131, meaning: 'SIGQUIT was sent' },
  outputClosed: BY_SIGNAL.outputClosed,
  terminated: { code: 143, meaning: 'SIGTERM was sent a second time' },
} as const satisfies Record<string, ExitCode>;

/** Exit codes of `dev`. A number must never get another meaning. */
export const DEV_EXIT = {
  stopped: { code: 0, meaning: 'SIGTERM or Ctrl-C ended the service' },
  failed: { code: 1, meaning: 'the service could not start, or failed' },
  usage: EXIT.usage,
  interrupted: { code: 130, meaning: 'Ctrl-C was pressed three times' },
  terminated: { code: 143, meaning: 'SIGTERM was sent three times' },
} as const satisfies Record<string, ExitCode>;

/** Exit codes of `fsck`, for scripts that continue when nothing is wrong. A number must never get another meaning. */
export const FSCK_EXIT = {
  clean: { code: 0, meaning: 'nothing is wrong, or everything was repaired; show: the record was printed' },
  faults: { code: 1, meaning: 'some faults were not repaired; show: there is no such job' },
  unchecked: { code: 2, meaning: 'the check failed: invalid command line, no Redis, or no data under the prefix' },
  ...BY_SIGNAL,
} as const satisfies Record<string, ExitCode>;

/** Format exit codes for the end of a help text. */
export const exitCodesHelp = (codes: Record<string, ExitCode>) =>
  `\nExit codes:\n${Object.values(codes)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}\n`)
    .join('')}`;

/** Format the help of a command that needs an API key: the scopes of the key, and the exit codes. */
export const keyHelp = (scopes: string, codes: Record<string, ExitCode> = CALL_EXIT) =>
  `\nNeeds a key with ${scopes}.\n${exitCodesHelp(codes)}`;

/** How a command ended. */
export interface Outcome {
  exit: ExitCode;
  /** The reason as a printable sentence; null when the output has shown it. */
  sentence: string | null;
}

/** The outcome of a command that makes a call, and did what it says. */
export const DONE: Outcome = { exit: CALL_EXIT.done, sentence: null };

/** Print lines, and return that the command did what it says. */
export function done(out: Terminal, lines: string[]): Outcome {
  writeLines(out, lines);
  return DONE;
}

/**
 * Return the exit code for how a job ended; null when it has not ended.
 *
 * Any message may contain the status, because the job may have ended before the init.
 */
export function exitOf({ type, status }: StreamMessage): ExitCode | null {
  if (type === 'completed') return EXIT.completed; // Messages of progress scope have no status.
  return isTerminal(status) ? EXIT[status] : null;
}

/** The outcome of a stream that has ended, of which no message has shown how the job ended. */
export const ENDED_UNSEEN: Outcome = {
  exit: EXIT.unknown,
  sentence: 'the job has ended; only an API key with jobs:read can see its status',
};

/**
 * Return the outcome of a call that failed for good.
 *
 * @throws the error itself, when it is a bug
 */
export function failureOf(error: unknown): Outcome {
  if (error instanceof Refused) return { exit: CALL_EXIT.refused, sentence: error.message };
  if (error instanceof Unavailable) {
    return { exit: CALL_EXIT.unavailable, sentence: `the service did not serve the call: ${error.message}` };
  }
  throw error;
}

/** Return the outcome when `--timeout` is over. */
export const gaveUpAfter = (seconds: number | null): Outcome => ({
  exit: EXIT.timedOut,
  sentence: `gave up after ${seconds} s`,
});
