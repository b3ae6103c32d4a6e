import { isJobId, type Outcome, type Settled, YardmasterError } from '@yardmaster/protocol';
import { partitionOf, partitionOfJob } from '../../keys.js';
import { SLOT_MOVING, throwIfRefused } from '../../script/run-script.js';
import type { VerbInputs } from '../../script/script.js';
import { notAfterOf, type Store } from '../../store.js';
import { type Effect, reportEffect, verbOf } from '../attempt/attempt.js';
import type { ClaimedValue } from '../read/record.js';
import { jobsOfPoll, type Polled, type PollInputs, pollVerb, reportPolled } from './claim.js';

/** A poll that first settles outcomes. */
export interface TurnRequest {
  settle: readonly Outcome[];
  /** Jobs to claim; null for none. */
  poll: PollInputs | null;
  /** Return the refusal if the caller may not do this action; null if it may. */
  refusalOf: (outcome: Outcome) => YardmasterError | null;
}

/**
 * Settle jobs of a space in order, and then claim pending jobs, in one script. A refused outcome does not affect the
 * others.
 *
 * @throws UNAVAILABLE, after which any part may have been done; OVERLOADED, STORAGE_FULL when nothing was done
 * @see docs/api/workers.md#settle
 */
export async function settleAndPoll(
  store: Store,
  spaceId: string,
  { settle, poll, refusalOf }: TurnRequest,
): Promise<Polled & { settled: Settled[] }> {
  const refused = settle.map((outcome) => refusalOf(outcome) ?? refusalOfId(outcome, spaceId));
  const sent = settle.filter((_, i) => refused[i] === null);
  if (sent.length === 0 && poll === null) {
    return { jobs: [], isMore: false, settled: settle.map((it, i) => unsettled(it, refused[i])) };
  }

  const sentAt = performance.now();
  const reports = sent.map((outcome) => verbOf(store, outcome.jobId, outcome.deliveryToken, outcome));
  const verbs: VerbInputs[] = poll === null ? reports : [...reports, pollVerb(poll)];
  const place = {
    base: store.keys.baseOfSpace(spaceId),
    space: spaceId,
    notAfter: poll === null ? '' : notAfterOf(store),
  } as const;
  const jobs = sent.length + (poll === null ? 0 : jobsOfPoll(poll));
  const replies = await store.send(store, { ...place, verbs, jobs }).catch((error: unknown) => {
    // An invalid record makes the script of a single verb fail. In a group, only the verb has a failed reply.
    if (verbs.length > 1 || poll !== null || error instanceof YardmasterError) throw error;
    return [['UNAVAILABLE']];
  });
  const refusal = replies[0]?.[0];
  if (refusal === 'TOO_LATE' || refusal === SLOT_MOVING) throwIfRefused(store, replies[0] as unknown[], sentAt);
  let next = 0;
  const settled = settle.map((outcome, i) => {
    const unsent = refused[i];
    if (unsent) return unsettled(outcome, unsent);
    const { verb } = reports[next] as (typeof reports)[number];
    return settledOf(store, outcome, () => {
      const reply = replies[next++] as unknown[];
      throwIfRefused(store, reply, sentAt);
      return verb.decode(reply);
    });
  });
  if (poll === null) return { jobs: [], isMore: false, settled };
  const reply = replies[next] as unknown[];
  throwIfRefused(store, reply, sentAt);
  const [outcome, ...values] = reply as [string, ...ClaimedValue[]];
  return { ...reportPolled(store, { outcome, jobs: values }, { ...poll, spaceId }), settled };
}

const otherSpace = () => new YardmasterError('FORBIDDEN', 'Job is in a different space than the path');

/** Refuse an ID without reading the job, if it is malformed or from another partition. */
function refusalOfId({ jobId }: Outcome, spaceId: string): YardmasterError | null {
  if (!isJobId(jobId)) return new YardmasterError('JOB_NOT_FOUND');
  return partitionOfJob(jobId) === partitionOf(spaceId) ? null : otherSpace();
}

const unsettled = ({ jobId }: Outcome, refusal: YardmasterError | null | undefined): Settled => {
  const { code, message, extras } = refusal as YardmasterError;
  return { jobId, success: false, error: message, code, ...extras } as Settled;
};

/** Return the result of settling an outcome. @param read decode the reply; may throw the error that it contains */
function settledOf(store: Store, outcome: Outcome, read: () => Effect): Settled {
  const { jobId, deliveryToken, action } = outcome;
  try {
    reportEffect(store, deliveryToken, action, read());
    return { jobId, success: true };
  } catch (error) {
    // Any other error comes from an invalid record.
    const refusal = error instanceof YardmasterError ? error : new YardmasterError('UNAVAILABLE');
    return unsettled(outcome, refusal.code === 'FORBIDDEN' ? otherSpace() : refusal);
  }
}
