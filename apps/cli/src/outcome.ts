import { isTerminal } from '@yardmaster/protocol';
import { EXIT, type ExitCode } from './exit-codes.js';
import type { End } from './service/follow.js';
import type { StreamMessage } from './service/message.js';
import { redact, type Service } from './service/service.js';

/** How a command ended. */
export interface Outcome {
  exit: ExitCode;
  /** The reason as a printable sentence; null when the output has shown it. */
  sentence: string | null;
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

/** Return the outcome of the end of a stream when no message has shown how the job ended. */
export function outcomeOf(end: End, service: Service): Outcome {
  if (end.kind === 'refused') return { exit: EXIT.refused, sentence: redact(end.sentence, service) };
  return {
    exit: EXIT.unknown,
    sentence: 'the job has ended; only an API key with jobs:read can see its status',
  };
}

/** Return the outcome when `--timeout` is over. */
export const gaveUpAfter = (seconds: number | null): Outcome => ({
  exit: EXIT.timedOut,
  sentence: `gave up after ${seconds} s`,
});
