import { isTerminal } from '@yardmaster/protocol';
import type { Service } from './addresses.js';
import { EXIT } from './exit-codes.js';
import type { End } from './follow.js';
import type { StreamMessage } from './message.js';
import { redact } from './redact.js';

/** How a command ended. */
export interface Outcome {
  code: number;
  /** The reason as a printable sentence; null when the output has shown it. */
  sentence: string | null;
}

/**
 * Return the exit code for how a job ended; null when it has not ended.
 *
 * Any message may contain the status, because the job may have ended before the init.
 */
export function exitCodeOf({ type, status }: StreamMessage): number | null {
  if (type === 'completed') return EXIT.completed; // Messages of progress scope have no status.
  return isTerminal(status) ? EXIT[status] : null;
}

/** Return the outcome of the end of a stream when no message has shown how the job ended. */
export function outcomeOf(end: End, service: Service): Outcome {
  if (end.kind === 'refused') return { code: EXIT.refused, sentence: redact(end.sentence, service) };
  return {
    code: EXIT.unknown,
    sentence: 'the job has ended; how, is not shown without an API key that holds jobs:read',
  };
}

/** Return the outcome when `--timeout` is over. */
export const gaveUpAfter = (seconds: number | null): Outcome => ({
  code: EXIT.timedOut,
  sentence: `gave up after ${seconds} s`,
});
