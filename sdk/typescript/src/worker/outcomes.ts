import type { ErrorObject } from '../error-text.js';
import { NonRetryable, RetryAfter, type YardmasterError } from '../errors.js';
import { jsonOf } from '../json.js';
import type { CompleteOutcome, FailOutcome, Outcome, ReleaseOutcome } from '../wire.generated.js';
import { Released } from './context.js';
import { bytesOf, describe, UNREADABLE } from './thrown.js';

type WithoutJob<O> = O extends Outcome ? Omit<O, 'jobId' | 'deliveryToken'> : never;

/** An outcome without its job. */
export type Fields = WithoutJob<Outcome>;

/** How an attempt ends. */
export type End = WithoutJob<CompleteOutcome | FailOutcome | ReleaseOutcome>;

/** Characters of a name that the service can't refuse. */
const MOST_NAME = 100;

/**
 * Call a handler, and return how its attempt ends, whatever it returns, throws or gives as a reason.
 *
 * @param failed gets the error of an attempt that fails unexpectedly: not by `NonRetryable` or `RetryAfter`
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
    return { action: 'fail', error: { name: 'Error', message: UNREADABLE } }; // A revoked proxy, for example.
  }
}

/** Return a result as the service stores it, whatever happens to its object later; an error for one that it can't store. */
function storedOf(result: unknown): { value: unknown } | { error: ErrorObject } {
  try {
    return { value: JSON.parse(jsonOf(result, 'result')) };
  } catch (error) {
    const { message } = error as Error;
    return { error: invalidResult(error instanceof RangeError ? message : `The result is not JSON: ${message}`) };
  }
}

const invalidResult = (message: string) => ({ name: 'InvalidResult', message });

/** Return the error of a result that is too large. @param rule which limit it exceeds */
export function tooLarge(result: unknown, rule: string): ErrorObject {
  const bytes = bytesOf(JSON.stringify(result) ?? 'null').toLocaleString('en-US');
  const advice = 'Store it elsewhere and return its address.';
  return invalidResult(`The result has ${bytes} bytes of JSON, which the service refuses: ${rule}. ${advice}`);
}

export const releaseOf = (delaySeconds: number, reason?: string): End => ({
  action: 'release',
  ...(delaySeconds > 0 && { delaySeconds }),
  ...(reason && { reason }),
});

/**
 * Return what to send instead of an outcome that the service refuses as invalid or too large.
 *
 * @returns an outcome that it can't refuse for its content; null for a report that ends no attempt
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
