import { isTerminal, type Status } from '@yardmaster/protocol';
import { type Delivery, Refusal } from './world.js';

/** A worker's call, as docs/delivery-tokens.md groups them. Fail and release give the job up. */
export type WorkerCall = 'ack' | 'heartbeat' | 'complete' | 'give up';

/** The call after which a status shows that the current delivery has made it already. */
const DONE_IN: Partial<Record<WorkerCall, string>> = { ack: 'running', complete: 'completed' };

/**
 * Decide about a worker's call by its delivery token.
 *
 * @param token none, or null, for a call without one
 * @returns whether the call changes nothing, because it was made before, or because its worker has lost the job anyway
 * @throws Refusal
 */
export function changesNothing(
  { status, deliveries }: { status: Status; deliveries: readonly Delivery[] },
  call: WorkerCall,
  token: string | null = null,
): boolean {
  if (token === null || status === 'killed') return false;
  const delivery = deliveries.find((one) => one.token === token);
  const lost = new Refusal('DELIVERY_LOST', status);
  if (call === 'give up') {
    if (delivery === undefined) throw lost;
    return delivery.isGivenUp;
  }
  if (status === 'pending' || status === 'scheduled') return false;
  // A job that was taken back and then died while it waited has not ended in a delivery.
  if (delivery === undefined || delivery !== deliveries.at(-1) || delivery.isTakenBack) throw lost;
  if (status === DONE_IN[call]) return true;
  if (isTerminal(status)) throw new Refusal('JOB_NOT_RUNNING', status);
  return false;
}
