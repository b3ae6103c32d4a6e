import { invalidRequest, isJobId, type Outcome, YardmasterError } from '@yardmaster/protocol';
import { partitionOfJob, readSpaceOf } from '@yardmaster/store';
import type { Call, Route } from './routes/route.js';

// The setting `requireDeliveryToken` of a space: calls of workers without a delivery token are 400.

/** Whether a call has no token, and its job may be in a space that requires one. It costs no call to Redis. */
export function mayLackToken({ header: expected }: Route, { store, header, jobId }: Call): boolean {
  return (
    expected === 'x-delivery-token' &&
    header === null &&
    store.spaceSettings.isOnIn(partitionOfJob(jobId), 'requireDeliveryToken') &&
    isJobId(jobId)
  );
}

/**
 * Refuse a call without a token on a job whose space requires one. Callers that may not touch the job learn nothing
 * here: the call itself refuses them.
 *
 * @throws INVALID_REQUEST, UNAVAILABLE
 */
export async function requireToken({ store, jobId, caller }: Call): Promise<void> {
  const spaceId = await readSpaceOf(store, jobId);
  if (spaceId === null || (caller.spaceId !== null && caller.spaceId !== spaceId)) return;
  if (store.spaceSettings.of(spaceId)?.requireDeliveryToken) {
    throw new YardmasterError('INVALID_REQUEST', 'x-delivery-token is required in this space');
  }
}

/** Refuse outcomes without a token in a space that requires one. @throws INVALID_REQUEST */
export function requireTokens(
  { store, spaceId }: Call,
  outcomes: readonly Outcome[],
  list: 'outcomes' | 'settle',
): void {
  if (!store.spaceSettings.of(spaceId)?.requireDeliveryToken) return;
  const faults = outcomes.flatMap(({ deliveryToken }, i) => {
    const path = `${list}[${i}].deliveryToken`;
    return deliveryToken ? [] : [{ path, message: `${path} is required in this space` }];
  });
  if (faults.length > 0) throw invalidRequest(faults);
}
