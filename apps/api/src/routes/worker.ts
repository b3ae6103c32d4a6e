import { invalidRequest, isJobId, type Outcome, YardmasterError } from '@yardmaster/protocol';
import { partitionOfJob, readSpaceOf, type Store, type Worker } from '@yardmaster/store';
import type { Call } from '../call.js';

/**
 * Return the handler of a call of a worker on its job. The row has the header `x-delivery-token`, and a space with the
 * setting `requireDeliveryToken` refuses calls without it.
 */
export const ofWorker =
  <B>(run: (store: Store, worker: Worker, jobId: string, input: B) => Promise<void>) =>
  async (call: Call<B>): Promise<{ success: true }> => {
    const { store, caller, id, input, header } = call;
    if (mayLackToken(call)) await requireToken(call);
    await run(store, { spaceId: caller.spaceId, deliveryToken: header }, id, input);
    return { success: true };
  };

/** Whether a call has no token, and its job may be in a space that requires one. It costs no call to Redis. */
const mayLackToken = ({ store, header, id }: Call) =>
  header === null && store.known.spaces.isOnIn(partitionOfJob(id), 'requireDeliveryToken') && isJobId(id);

/**
 * Refuse a call without a token on a job whose space requires one. Callers that may not touch the job learn nothing
 * here: the call itself refuses them.
 *
 * @throws INVALID_REQUEST, UNAVAILABLE
 */
async function requireToken({ store, id, caller }: Call): Promise<void> {
  const spaceId = await readSpaceOf(store, id);
  if (spaceId === null || (caller.spaceId !== null && caller.spaceId !== spaceId)) return;
  if (store.known.spaces.of(spaceId)?.requireDeliveryToken) {
    throw new YardmasterError('INVALID_REQUEST', 'x-delivery-token is required in this space');
  }
}

/** Refuse outcomes without a token in a space that requires one. @throws INVALID_REQUEST */
export function requireTokens(
  { store, spaceId }: Call,
  outcomes: readonly Outcome[],
  list: 'outcomes' | 'settle',
): void {
  if (!store.known.spaces.of(spaceId)?.requireDeliveryToken) return;
  const faults = outcomes.flatMap(({ deliveryToken }, i) => {
    const path = `${list}[${i}].deliveryToken`;
    return deliveryToken ? [] : [{ path, message: `${path} is required in this space` }];
  });
  if (faults.length > 0) throw invalidRequest(faults);
}
