import type { Service } from './addresses.js';
import { EXIT } from './exit-codes.js';
import type { End } from './follow.js';
import type { StreamMessage } from './message.js';
import { speakable } from './speakable.js';

/** How a command ended. */
export interface Outcome {
  code: number;
  /** Why, as a printable sentence; null when the output has said it. */
  sentence: string | null;
}

/** How a job ended, of whatever message brings the status, since the end may lie before the init; null: it has not. */
export function exitCodeOf({ type, status }: StreamMessage): number | null {
  if (type === 'completed') return EXIT.completed; // Progress scope has no status.
  return status === 'completed' || status === 'dead' || status === 'killed' ? EXIT[status] : null;
}

/** What the end of a stream means when no message has told how the job ended. */
export function outcomeOf(end: End, service: Service): Outcome {
  if (end.kind === 'refused') return { code: EXIT.refused, sentence: speakable(end.sentence, service) };
  return {
    code: EXIT.unknown,
    sentence: 'the job has ended; how, is not shown without an API key that holds jobs:read',
  };
}

/** The outcome when `--timeout` is over. */
export const gaveUpAfter = (seconds: number | null): Outcome => ({
  code: EXIT.timedOut,
  sentence: `gave up after ${seconds} s`,
});
