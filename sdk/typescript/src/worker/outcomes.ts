import { NonRetryable, RetryAfter } from '../errors.js';
import type { CompleteOutcome, FailOutcome, Outcome, ReleaseOutcome } from '../wire.generated.js';
import { Released } from './context.js';

type WithoutJob<O> = O extends Outcome ? Omit<O, 'jobId' | 'deliveryToken'> : never;

/** An outcome without its job. */
export type Fields = WithoutJob<Outcome>;

/** How an attempt ends. */
export type End = WithoutJob<CompleteOutcome | FailOutcome | ReleaseOutcome>;

/** Errors may have 64 KB of JSON, in which a character may need six bytes. */
const MOST_CHARACTERS = 10_000;

/** Return the end of an attempt whose handler has returned a value. */
export function endOf(result: unknown): End {
  if (result instanceof Released) return releaseOf(result.delaySeconds, result.reason);
  try {
    JSON.stringify(result);
  } catch (error) {
    return failureOf(new Error(`The result is not representable as JSON: ${(error as Error).message}`));
  }
  return { action: 'complete', result: result ?? null };
}

/** Return the end of an attempt whose handler has thrown something. */
export function failureOf(thrown: unknown): End {
  if (thrown instanceof Released) return releaseOf(thrown.delaySeconds, thrown.reason);
  const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  const error = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)} …` : text;
  return {
    action: 'fail',
    error,
    ...(thrown instanceof NonRetryable && { retryable: false }),
    ...(thrown instanceof RetryAfter && { retryAfterSeconds: thrown.seconds }),
  };
}

export const releaseOf = (delaySeconds: number, reason?: string): End => ({
  action: 'release',
  ...(delaySeconds > 0 && { delaySeconds }),
  ...(reason && { reason }),
});
