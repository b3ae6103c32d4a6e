import type { ErrorCode } from '../errors.js';
import type { JsonValue } from '../schema/fields.js';
import type { EventType } from './events.js';
import type { Status } from './statuses.js';

/** Trigger that can move a job. Timeouts are triggers like any call; the clock causes them. */
export type Trigger =
  | 'poll'
  | 'claim'
  | 'ack'
  | 'progress'
  | 'checkpoint'
  | 'event'
  | 'keepalive'
  | 'complete'
  | 'fail'
  | 'release'
  | 'kill'
  | 'replace'
  | 'reschedule'
  | 'requeue'
  | 'due'
  | 'start_timeout'
  | 'delivery_timeout'
  | 'execution_timeout';

/**
 * On what the outcome of a trigger depends: on the retries left, on the deliveries left (`MAX_DELIVERIES`), on a delay,
 * or on the time limit for the start (`startWithinSeconds`).
 */
type Condition =
  | 'retries remain'
  | 'retries remain, with a delay'
  | 'no retries remain'
  | 'deliveries remain'
  | 'no deliveries remain'
  | 'no time is left to start'
  | 'at once'
  | 'with a delay';

export interface Transition {
  trigger: Trigger;
  /** Only for triggers with more than one outcome. */
  when?: Condition;
  from: readonly Status[];
  to: Status;
  /** Event that is recorded and published, or null when the move leaves no trace. */
  event: EventType | null;
}

/** Outcomes of an attempt that has failed, for whatever reason. */
const failedAttempt = (trigger: 'fail' | 'execution_timeout'): Transition[] => [
  { trigger, when: 'retries remain', from: ['running'], to: 'pending', event: 'retried' },
  { trigger, when: 'retries remain, with a delay', from: ['running'], to: 'scheduled', event: 'retried' },
  { trigger, when: 'no retries remain', from: ['running'], to: 'dead', event: 'dead' },
];

/** Outcomes for a delivery that has ended without an ack. */
const deliveryTimeout = (when: Condition, to: Status, event: EventType): Transition => ({
  trigger: 'delivery_timeout',
  when,
  from: ['delivered'],
  to,
  event,
});

/** Outcomes of a call that gives a job another time. */
const newTime = (
  trigger: 'replace' | 'reschedule' | 'requeue',
  event: EventType,
  from: readonly Status[],
): Transition[] => [
  { trigger, when: 'at once', from, to: 'pending', event },
  { trigger, when: 'with a delay', from, to: 'scheduled', event },
];

/**
 * The complete life of a job. A trigger without a row here is refused (see `refusalOf`).
 * A job begins as pending or, with a time in the future, as scheduled, with the event `created`.
 *
 * @see docs/api/job.md#statuses
 */
export const TRANSITIONS: readonly Transition[] = [
  { trigger: 'due', from: ['scheduled'], to: 'pending', event: 'ready' },
  { trigger: 'start_timeout', from: ['scheduled', 'pending'], to: 'dead', event: 'dead' },
  { trigger: 'poll', from: ['pending'], to: 'delivered', event: 'delivered' },
  { trigger: 'claim', from: ['pending'], to: 'delivered', event: 'delivered' },
  { trigger: 'ack', from: ['delivered'], to: 'running', event: 'acked' },
  deliveryTimeout('deliveries remain', 'pending', 'delivery_timeout'),
  deliveryTimeout('no deliveries remain', 'dead', 'dead'),
  deliveryTimeout('no time is left to start', 'dead', 'dead'),
  { trigger: 'progress', from: ['running'], to: 'running', event: 'progress' },
  { trigger: 'checkpoint', from: ['running'], to: 'running', event: 'checkpoint' },
  { trigger: 'event', from: ['running'], to: 'running', event: 'event' },
  { trigger: 'keepalive', from: ['running'], to: 'running', event: null },
  { trigger: 'complete', from: ['running'], to: 'completed', event: 'completed' },
  ...failedAttempt('fail'),
  { trigger: 'release', when: 'at once', from: ['delivered', 'running'], to: 'pending', event: 'released' },
  { trigger: 'release', when: 'with a delay', from: ['delivered', 'running'], to: 'scheduled', event: 'released' },
  { trigger: 'release', when: 'no time is left to start', from: ['delivered'], to: 'dead', event: 'dead' },
  ...failedAttempt('execution_timeout'),
  { trigger: 'kill', from: ['scheduled', 'pending', 'delivered', 'running'], to: 'killed', event: 'killed' },
  { trigger: 'kill', from: ['killed'], to: 'killed', event: null },
  ...newTime('replace', 'replaced', ['scheduled', 'pending']),
  ...newTime('reschedule', 'rescheduled', ['scheduled', 'pending']),
  ...newTime('requeue', 'requeued', ['dead', 'killed']),
];

/**
 * Return the status that a job has after an event; null for an event that no transition has. Of an event that can lead
 * to two statuses, the data shows whether the job is scheduled.
 */
export function statusAfter({ type, data }: { type: EventType; data: JsonValue }): Status | null {
  const to = TRANSITIONS.filter(({ event }) => event === type).map((transition) => transition.to);
  const { scheduledFor } = (data ?? {}) as { scheduledFor?: JsonValue };
  const isScheduled = to.includes('scheduled') && typeof scheduledFor === 'string';
  return isScheduled ? 'scheduled' : (to[0] ?? null);
}

/** Return the types of the events by which a job leaves its worker for one of these statuses. */
const leavingTo = (...statuses: Status[]): ReadonlySet<string> => {
  const isLeaving = ({ from, to }: Transition) =>
    (from.includes('delivered') || from.includes('running')) && statuses.includes(to);
  return new Set(TRANSITIONS.filter(isLeaving).flatMap(({ event }) => event ?? []));
};

/** Types of events after which a job waits for another worker: `retried`, `released` and `delivery_timeout`. */
export const WAITS_AGAIN_EVENTS = leavingTo('pending', 'scheduled');

/** Types of events that tell a worker that it no longer has its job: those above, `dead` and `killed`. */
export const JOB_LOST_EVENTS = leavingTo('pending', 'scheduled', 'dead', 'killed');

const HEARTBEATS: readonly Trigger[] = ['progress', 'checkpoint', 'event', 'keepalive'];

/**
 * Return how a trigger without a row in `TRANSITIONS` is refused.
 *
 * @returns the code of the error, or null when the trigger does nothing: a poll or a claim does not return the job,
 *   a create that may replace the job leaves it as it is, and a timer ignores a job that has moved on
 * @see docs/api/job.md#statuses
 */
export function refusalOf(trigger: Trigger, status: Status): ErrorCode | null {
  if (trigger === 'ack') return 'JOB_NOT_DELIVERED';
  if (trigger === 'kill') return 'JOB_ENDED';
  if (trigger === 'reschedule') return 'JOB_NOT_PENDING';
  if (trigger === 'requeue') return 'JOB_NOT_DEAD';
  if (HEARTBEATS.includes(trigger)) return status === 'killed' ? 'JOB_KILLED' : 'JOB_NOT_RUNNING';
  if (trigger === 'complete' || trigger === 'fail') return 'JOB_NOT_RUNNING';
  if (trigger === 'release') return status === 'killed' ? 'JOB_KILLED' : 'JOB_NOT_RUNNING';
  return null;
}
