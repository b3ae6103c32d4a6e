import type { ErrorObject } from '../error-text.js';
import { NonRetryable, RetryAfter, type YardmasterError } from '../errors.js';
import { jsonOf } from '../json.js';
import type { CompleteOutcome, FailOutcome, Outcome, ReleaseOutcome } from '../wire.generated.js';
import { Released } from './context.js';
import { bytesOf, describe, UNREADABLE } from './thrown.js';

type WithoutJob<O> = O extends Outcome ? Omit<O, 'jobId' | 'deliveryToken'> : never;

/** The fields of an outcome without its job. */
export type Fields = WithoutJob<Outcome>;

/** An outcome that ends an attempt, without its job. */
export type End = WithoutJob<CompleteOutcome | FailOutcome | ReleaseOutcome>;

/** Maximum length of a name that the service accepts in any case, in characters. */
const MOST_NAME = 100;

/**
 * Call a handler and return the end of its attempt, whatever it returns or throws.
 *
 * @param failed called with the error of an attempt that fails by anything but `NonRetryable` and `RetryAfter`
 */
export async function outcomeOf(
  call: () => unknown,
  failed: (error: ErrorObject) => void = () => undefined,
): Promise<End> {
  try {
    const result = await call();
    if (result instanceof Released) return releaseOf(result.delaySeconds, result.reason);
    const stored = storedOf(result);
    if ('value' in stored) return { action: 'complete', result: stored.value };
    failed(stored.error);
    return { action: 'fail', error: stored.error, retryable: false };
  } catch (thrown) {
    return failureOf(thrown, failed);
  }
}

function failureOf(thrown: unknown, failed: (error: ErrorObject) => void): End {
  try {
    if (thrown instanceof Released) return releaseOf(thrown.delaySeconds, thrown.reason);
    const error = describe(thrown);
    if (thrown instanceof NonRetryable) return { action: 'fail', error, retryable: false };
    if (thrown instanceof RetryAfter) return { action: 'fail', error, retryAfterSeconds: thrown.seconds };
    failed(error);
    return { action: 'fail', error };
  } catch {
    return { action: 'fail', error: { name: 'Error', message: UNREADABLE } }; // For example, a revoked proxy.
  }
}

/** Return a copy of a result as the service stores it, or an error if it can't be stored. */
function storedOf(result: unknown): { value: unknown } | { error: ErrorObject } {
  try {
    return { value: JSON.parse(jsonOf(result, 'result')) };
  } catch (error) {
    const { message } = error as Error;
    return { error: invalidResult(error instanceof RangeError ? message : `The result is not JSON: ${message}`) };
  }
}

const invalidResult = (message: string) => ({ name: 'InvalidResult', message });

/** Return the error for a result that is too large. @param rule the limit that it exceeds */
export function tooLarge(result: unknown, rule: string): ErrorObject {
  const bytes = bytesOf(JSON.stringify(result) ?? 'null').toLocaleString('en-US');
  const advice = 'Store it elsewhere and return its URL.';
  return invalidResult(`The result has ${bytes} bytes of JSON, which the service refuses: ${rule}. ${advice}`);
}

export const releaseOf = (delaySeconds: number, reason?: string): End => ({
  action: 'release',
  ...(delaySeconds > 0 && { delaySeconds }),
  ...(reason && { reason }),
});

/**
 * Replace an outcome that the service refused as invalid or too large.
 *
 * @returns an outcome whose content the service accepts; null for a report that doesn't end an attempt
 */
export function insteadOf(outcome: Outcome, { status, message }: YardmasterError): Outcome | null {
  const { jobId, deliveryToken = null } = outcome;
  const job = { jobId, deliveryToken };
  if (outcome.action === 'release') return { ...job, action: 'release' };
  if (outcome.action === 'complete') {
    const error =
      status === 413 ? tooLarge(outcome.result, message) : invalidResult(`The service refuses the result: ${message}`);
    return { ...job, action: 'fail', error, retryable: false };
  }
  if (outcome.action !== 'fail') return null;
  const { error, retryable, retryAfterSeconds } = outcome;
  const name = String((error as Partial<ErrorObject>).name ?? 'Error')
    .slice(0, MOST_NAME)
    .toWellFormed();
  const refused = { name, message: `The service refused the error of this attempt: ${message}` };
  return {
    ...{ ...job, action: 'fail', error: refused },
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
