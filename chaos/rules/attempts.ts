import { type JsonValue, type Status, statusAfter, WAITS_AGAIN_EVENTS } from '@yardmaster/protocol';
import { changesNothing, type JobVerb, Refusal, refusalOf, type WorkerCall } from '../../test/model/index.js';
import type { DumpedJob } from '../checker/dump.js';
import type { Call, Operation } from '../checker/history.js';

/** The fields of a job that contain its history. */
export type Events = Pick<DumpedJob, 'events' | 'scheduledFor'>;

/** A delivery in the history of a job. */
export interface Delivery {
  token: string;
  attempt: number; // Number of earlier attempts.
  checkpoint: JsonValue; // Latest checkpoint at the delivery; no other is accepted before the ack.
  at: number; // Epoch milliseconds.
  from: number; // Index of its event.
  until: number; // Index of the event with which its worker gave up or lost the job; infinite for none.
}

/** State of a job at a delivery. */
type Counts = Pick<Delivery, 'attempt' | 'checkpoint'> & { returns: number };

/** Return the counts after an event. @param last the latest delivery */
function countsAfter(counts: Counts, { type, data }: Events['events'][number], last: Delivery | undefined): Counts {
  switch (type) {
    case 'acked':
      return { ...counts, attempt: counts.attempt + 1 };
    case 'checkpoint':
      return { ...counts, checkpoint: data };
    case 'replaced':
      return { ...counts, checkpoint: null };
    case 'released': // The attempt does not count.
      return { ...counts, attempt: last?.attempt ?? 0, returns: counts.returns + 1 };
    case 'delivery_timeout':
      return { ...counts, returns: counts.returns + 1 };
    case 'requeued':
      return { ...counts, attempt: 0, returns: counts.returns + 1 };
    default:
      return counts;
  }
}

/** List the deliveries of a job in order. */
export function deliveriesOf({ events }: Events): Delivery[] {
  const deliveries: Delivery[] = [];
  let counts: Counts = { attempt: 0, returns: 0, checkpoint: null };
  for (const [i, event] of events.entries()) {
    if (event.type === 'delivered') {
      const { attempt, returns, checkpoint } = counts;
      const at = Date.parse(event.createdAt);
      deliveries.push({
        token: `${attempt}.${returns}`,
        attempt,
        checkpoint,
        at,
        from: i,
        until: Number.POSITIVE_INFINITY,
      });
    }
    const last = deliveries.at(-1);
    counts = countsAfter(counts, event, last);
    if (last !== undefined && ENDS.includes(event.type)) last.until = Math.min(last.until, i);
  }
  return deliveries;
}

/** Events that return a job to its place in the queue by creation order, because no attempt has failed. */
export const RETURNS: readonly string[] = [...WAITS_AGAIN_EVENTS].filter((type) => type !== 'retried');
/** Events with which a worker loses its job or gives it up. */
const ENDS: readonly string[] = ['dead', 'requeued', ...WAITS_AGAIN_EVENTS];

/** Outcome of a call: the code of its refusal, or whether it changes the job. */
export type Outcome = 'changed' | 'unchanged' | string;

/** Return a token without its epoch, which cannot be derived from the history of a job and is the same in all its tokens. */
export const deliveryOf = (token: string | null | undefined): string | undefined => /^\d+\.\d+/.exec(token ?? '')?.[0];

/** Predict the outcome of a call with a delivery token right after an event of the job. @param i index of the event */
export function outcomeAfter(job: Events, i: number, { op, token }: Call): Outcome {
  const status = statusAt(job, i);
  const deliveries = deliveriesOf(job)
    .filter(({ from }) => from <= i)
    .map((one) => ({
      token: one.token,
      isGivenUp: one.until <= i,
      isTakenBack: job.events
        .slice(one.until, i + 1)
        .some(({ type }, n) => type === 'requeued' || (n === 0 && RETURNS.includes(type))),
    }));
  try {
    if (changesNothing({ status, deliveries }, FENCED[op] as WorkerCall, deliveryOf(token) ?? null)) return 'unchanged';
  } catch (refusal) {
    if (refusal instanceof Refusal) return refusal.code;
    throw refusal;
  }
  return refusalOf(op as JobVerb, status)?.code ?? 'changed';
}

/** Predict every possible outcome of a call with a delivery token, from the history of its job and the time of the call. */
export function outcomesOf(job: Events, call: Call): Set<Outcome> {
  const at = job.events.map(({ createdAt }) => Date.parse(createdAt));
  const mayBe = [...at.keys()].filter((i) => {
    const [since = 0, until = Number.POSITIVE_INFINITY] = [at[i], at[i + 1]];
    return since <= call.endedAt + 1 && until >= call.sentAt - 1;
  });
  return new Set(mayBe.map((i) => outcomeAfter(job, i, call)));
}

/** Calls whose outcome depends on the delivery token. */
const FENCED: Partial<Record<Operation, WorkerCall>> = {
  ...{ ack: 'ack', complete: 'complete', fail: 'give up', release: 'give up' },
  ...{ progress: 'heartbeat', checkpoint: 'heartbeat', event: 'heartbeat', keepalive: 'heartbeat' },
};

/** Check whether the outcome of a call depends on its delivery token. */
export const isFenced = ({ op, token }: Call) => token !== null && FENCED[op] !== undefined;

const statusAt = (job: Events, i: number): Status =>
  job.events
    .slice(0, i + 1)
    .map(statusAfter)
    .findLast((status) => status !== null) ?? statusAtCreation(job);

/** Return the first status of a job: `scheduled` if its next status is `ready`, or if it is still scheduled. */
export function statusAtCreation({ events, scheduledFor }: Events): Status {
  const later = events.find((event) => statusAfter(event) !== null);
  const hasWaited = later === undefined || later.type === 'killed' || later.type === 'dead';
  return later?.type === 'ready' || (hasWaited && scheduledFor !== undefined) ? 'scheduled' : 'pending';
}
